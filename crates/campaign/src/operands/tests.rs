//! A program of one comparison, made up anew each time: some change must
//! turn it round.

use super::*;
use wug_runtime::abi::{self, Payload, Text};

#[derive(Clone, Copy, Debug)]
enum Reads {
    Bytes { width: usize, big: bool, signed: bool },
    Decimal,
    Text,
}

fn event(kind: u8) -> Event {
    let text = Text { x: [0; abi::TEXT_MAX], y: [0; abi::TEXT_MAX] };
    Event {
        kind,
        size: 0,
        flags: 0,
        function: 0,
        site: 7,
        module: 0,
        depth: 0,
        pairs: 0,
        context: 0,
        near: [0; 2],
        a: 0,
        b: 0,
        of: Payload { text },
    }
}

/// What the program reads at `at`.
fn value(reads: Reads, input: &[u8], at: usize) -> Option<i128> {
    match reads {
        Reads::Bytes { width, big, signed } => {
            let mut bytes = input.get(at..at + width)?.to_vec();
            if big {
                bytes.reverse();
            }
            bytes.resize(8, if signed && bytes[width - 1] & 0x80 != 0 { 0xff } else { 0 });
            let word = u64::from_le_bytes(bytes.try_into().ok()?);
            Some(if signed { i128::from(word as i64) } else { i128::from(word) })
        }
        Reads::Decimal => {
            let digits = |byte: &&u8| byte.is_ascii_digit();
            let text: Vec<u8> = input.get(at..)?.iter().take_while(digits).copied().collect();
            String::from_utf8(text).ok()?.parse().ok()
        }
        Reads::Text => None,
    }
}

/// What the program tells of the comparison.
fn trace(
    reads: Reads,
    input: &[u8],
    at: usize,
    constant: &[u8],
    number: i128,
    size: u8,
    is_constant: bool,
) -> Vec<Event> {
    if let Reads::Text = reads {
        let Some(x) = input.get(at..) else { return Vec::new() };
        let mut event = event(abi::EVENT_TEXT);
        (event.a, event.b) = (x.len() as u64, constant.len() as u64);
        let mut text = Text { x: [0; abi::TEXT_MAX], y: [0; abi::TEXT_MAX] };
        let kept = x.len().min(abi::TEXT_MAX);
        text.x[..kept].copy_from_slice(&x[..kept]);
        text.y[..constant.len()].copy_from_slice(constant);
        event.of = Payload { text };
        return vec![event];
    }
    let Some(read) = value(reads, input, at) else { return Vec::new() };
    let mut event = event(abi::EVENT_COMPARE);
    event.size = size;
    event.a = number as u64 & form::mask(size);
    event.b = read as u64 & form::mask(size);
    event.flags =
        (u8::from(is_constant) * abi::FLAG_CONSTANT) | (u8::from(event.a == event.b) * abi::FLAG_EQUAL);
    vec![event]
}

#[test]
fn some_change_makes_the_operands_equal_in_every_form() {
    let mut forms = HashSet::new();
    wug_property::check(|u| {
        let len = u.int_in_range(8..=60)?;
        let mut input: Vec<u8> = (0..len).map(|_| u.arbitrary()).collect::<Result<_, _>>()?;
        let reads = match u.int_in_range(0..=3)? {
            0 => Reads::Decimal,
            1 => Reads::Text,
            _ => {
                Reads::Bytes { width: *u.choose(&[1, 2, 4, 8])?, big: u.arbitrary()?, signed: u.arbitrary()? }
            }
        };
        let at = u.int_in_range(0..=len - 8)?;
        let (mut number, mut size) = (0i128, 8);
        if let Reads::Bytes { width, signed, .. } = reads {
            // A value that the bytes can have, as the program widens it.
            let bits: u64 = u.arbitrary::<u64>()? & form::mask(width as u8);
            let shift = 64 - 8 * width as u32;
            number = if signed { i128::from(((bits << shift) as i64) >> shift) } else { i128::from(bits) };
            size = *u.choose(&[1u8, 2, 4, 8])?;
            size = size.max(width as u8);
            forms.insert(format!("{reads:?} {size}"));
        }
        if let Reads::Decimal = reads {
            input[at] = b'7';
            input[at + 1..at + 3].copy_from_slice(b"21");
            input[at + 3] = b';';
            if at > 0 {
                input[at - 1] = b'=';
            }
            number = i128::from(u.int_in_range(0..=u32::MAX)?);
            size = *u.choose(&[4, 8])?;
        }
        let constant = &b"keyword"[..u.int_in_range(1..=7)?];
        let is_constant = u.arbitrary()?;
        let events = trace(reads, &input, at, constant, number, size, is_constant);
        // Without a coloured copy, places are only more.
        let same = TracedRun { input: &input, events: &events };
        let changes = Operands::default().changes(same, same);
        let equal = |input: &[u8]| match reads {
            Reads::Text => input.get(at..).is_some_and(|rest| rest.starts_with(constant)),
            _ => value(reads, input, at) == Some(number),
        };
        let mut out = Vec::new();
        let turned = changes.iter().any(|change| {
            change.apply(&input, &mut out);
            equal(&out)
        });
        // A pattern that stands in many places may not be tried in this one.
        let crowded = changes.len() >= PLACES;
        assert!(turned || equal(&input) || crowded, "{reads:?} {at} {number} {size} {input:?} {changes:?}");
        Ok(())
    })
    .sizes(256, 512)
    .for_cases(200);
    assert!(forms.len() > 10, "{forms:?}");
}

#[test]
fn the_coloured_copy_tells_places_apart() {
    let (input, copy) = (b"aa11aa11", b"bc23de45");
    // The program reads the number at 6.
    let events = |input: &[u8]| trace(Reads::Decimal, input, 6, b"", 99, 4, true);
    let (first, second) = (events(input), events(copy));
    let changes = Operands::default()
        .changes(TracedRun { input, events: &first }, TracedRun { input: copy, events: &second });
    assert!(changes.iter().all(|change| change.at == 6), "{changes:?}");
    assert!(changes.contains(&Change { at: 6, len: 2, to: b"99".as_slice().into() }));
    // And its neighbours, for comparisons by order.
    assert!(changes.contains(&Change { at: 6, len: 2, to: b"100".as_slice().into() }));
}

#[test]
fn what_was_proposed_before_comes_later() {
    let mut events = trace(Reads::Decimal, b"55", 0, b"", 99, 4, true);
    let operands = &mut Operands::default();
    let old = TracedRun { input: b"55", events: &events.clone() };
    let first = operands.changes(old, old);
    assert!(first[0].to.starts_with(b"99"));
    let mut other = events[0];
    (other.site, other.a) = (9, 777);
    events.push(other);
    let both = TracedRun { input: b"55", events: &events };
    assert_eq!(*operands.changes(both, both)[0].to, *b"777");
}
