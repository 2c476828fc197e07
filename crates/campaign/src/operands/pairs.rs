//! What was compared with what.

use super::form::{DOUBLE, mask};
use std::collections::{HashMap, HashSet};
use wug_runtime::abi::{self, Event};

/// Pairs of one comparison in the program at most.
const PER_SITE: u32 = 32;
/// Members of a set that are tried.
const MEMBERS: usize = 16;
/// Texts for a dictionary have at least this many bytes.
const SHORTEST: usize = 2;

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand<'a> {
    /// `size` is 0 for the bits of a double.
    Number {
        value: u64,
        size: u8,
    },
    Text(&'a [u8]),
}

/// An operand that may be of the input, its value in the coloured copy, and
/// what it was compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub from: Operand<'a>,
    pub from_coloured: Operand<'a>,
    pub to: Operand<'a>,
    /// The place in the program.
    pub site: u64,
    /// How many pairs that place had before.
    pub round: u32,
}

/// All pairs of two runs that took the same way. Of comparisons that only
/// one of them made, nothing is known.
pub(super) fn of<'a>(first: &'a [Event], second: &'a [Event]) -> Vec<Pair<'a>> {
    let mut twins: HashMap<(u64, u32), &Event> = HashMap::new();
    let mut times: HashMap<u64, u32> = HashMap::new();
    for event in second {
        let time = times.entry(site_of(event)).or_default();
        twins.insert((site_of(event), *time), event);
        *time += 1;
    }
    times.clear();
    let mut rounds: HashMap<u64, u32> = HashMap::new();
    let mut seen = HashSet::new();
    let mut pairs = Vec::new();
    for event in first {
        let site = site_of(event);
        let time = times.entry(site).or_default();
        let twin = twins.get(&(site, *time));
        *time += 1;
        let Some(twin) = twin.filter(|twin| twin.kind == event.kind) else { continue };
        let round = rounds.entry(site).or_default();
        sides(event, twin, &mut |from, from_coloured, to| {
            if *round < PER_SITE && seen.insert((site, from, from_coloured, to)) {
                pairs.push(Pair { from, from_coloured, to, site, round: *round });
                *round += 1;
            }
        });
    }
    pairs
}

/// The place of a comparison in the program, and its kind.
fn site_of(event: &Event) -> u64 {
    let kind = u64::from(event.kind) << 8 | u64::from(event.function);
    u64::from(event.site) << 32 | u64::from(event.module) << 16 | kind
}

/// Addresses say nothing about the input.
fn is_address(value: u64) -> bool {
    (0x5000_0000_0000..0x8000_0000_0000).contains(&value)
}

fn sides<'a>(event: &'a Event, twin: &'a Event, add: &mut dyn FnMut(Operand<'a>, Operand<'a>, Operand<'a>)) {
    let number = |value: u64, size: u8| Operand::Number { value: value & mask(size.max(1)), size };
    match event.kind {
        abi::EVENT_COMPARE if event.flags & abi::FLAG_EQUAL == 0 && matches!(event.size, 1 | 2 | 4 | 8) => {
            if is_address(event.a) || is_address(event.b) {
                return;
            }
            let size = event.size;
            add(number(event.b, size), number(twin.b, size), number(event.a, size));
            if event.flags & abi::FLAG_CONSTANT == 0 {
                add(number(event.a, size), number(twin.a, size), number(event.b, size));
            }
        }
        abi::EVENT_FLOAT if event.flags & abi::FLAG_EQUAL == 0 => {
            let double = |value| Operand::Number { value, size: DOUBLE };
            add(double(event.a), double(twin.a), double(event.b));
            add(double(event.b), double(twin.b), double(event.a));
        }
        abi::EVENT_SWITCH if matches!(event.size, 1 | 2 | 4 | 8) => {
            for case in event.cases().iter().filter(|case| **case != event.a) {
                add(number(event.a, event.size), number(twin.a, event.size), number(*case, event.size));
            }
        }
        abi::EVENT_TEXT if event.flags & abi::FLAG_EQUAL == 0 => {
            add(Operand::Text(event.x()), Operand::Text(twin.x()), Operand::Text(event.y()));
            add(Operand::Text(event.y()), Operand::Text(twin.y()), Operand::Text(event.x()));
        }
        abi::EVENT_SET if event.flags & abi::FLAG_EQUAL == 0 => {
            for member in event.x().iter().take(MEMBERS) {
                add(number(event.a, 1), number(twin.a, 1), number((*member).into(), 1));
            }
        }
        _ => {}
    }
}

/// What a comparison says about words of the program: texts, and numbers
/// that are written as text.
pub(super) fn constants(event: &Event) -> Vec<Vec<u8>> {
    let word = |text: &&[u8]| {
        (SHORTEST..abi::TEXT_MAX).contains(&text.len()) && text.iter().all(|byte| matches!(byte, 0x20..=0x7e))
    };
    match event.kind {
        abi::EVENT_TEXT => [event.x(), event.y()].into_iter().filter(word).map(<[u8]>::to_vec).collect(),
        abi::EVENT_COMPARE if event.flags & abi::FLAG_CONSTANT != 0 && matches!(event.size, 2 | 4 | 8) => {
            let bytes = &event.a.to_le_bytes()[..event.size.into()];
            [bytes].into_iter().filter(word).map(<[u8]>::to_vec).collect()
        }
        _ => Vec::new(),
    }
}
