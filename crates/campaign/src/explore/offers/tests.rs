use super::*;

fn event(kind: u8, size: u8, a: u64, b: u64) -> Event {
    // SAFETY: every pattern of bytes is an event.
    let mut event: Event = unsafe { std::mem::zeroed() };
    (event.kind, event.size, event.a, event.b) = (kind, size, a, b);
    event
}

fn text(x: &[u8], y: &[u8]) -> Event {
    let mut event = event(abi::EVENT_TEXT, 0, x.len() as u64, y.len() as u64);
    let mut of = abi::Text { x: [0; abi::TEXT_MAX], y: [0; abi::TEXT_MAX] };
    of.x[..x.len()].copy_from_slice(x);
    of.y[..y.len()].copy_from_slice(y);
    event.of.text = of;
    event
}

/// The inputs that offers make of `before` and a tail.
#[track_caller]
fn check(before: &str, tail: &[u8], events: &[Event], expected: &[&str]) {
    let input = [before.as_bytes(), tail].concat();
    let probed = Probed { input: &input, keep: before.len(), sentinel: tail[0] };
    let mut ranges = Ranges::new();
    // Neighbours are a matter of their own.
    for event in events {
        for value in [event.a, event.b] {
            ranges.insert((0, 0, value as u8));
        }
        ranges.extend(event.cases().iter().map(|case| (0, 0, *case as u8)));
    }
    let made: Vec<String> = offers(probed, events, &Demands::default(), &mut ranges, &mut Rng::new(0, 0))
        .texts
        .into_iter()
        .map(|offer| {
            let bytes = [&input[..offer.keep], &offer.text[..]].concat();
            bytes.iter().map(|byte| char::from(*byte)).collect()
        })
        .collect();
    assert_eq!(made, expected);
}

#[test]
fn characters_take_the_place_of_the_sentinel() {
    check("a", b"\x01", &[event(abi::EVENT_COMPARE, 1, 0x3d, 1)], &["a="]);
    check("a", b"\x01", &[event(abi::EVENT_COMPARE, 4, 1, 0x3d)], &["a="]);
    check("a", b"\x01", &[event(abi::EVENT_COMPARE, 4, 0x3d, 2)], &[]);
    check("a", b"\x01", &[event(abi::EVENT_COMPARE, 4, 0xffff_ffff, 1)], &[]);
    check("a", b"\x01", &[event(abi::EVENT_COMPARE, 4, 300, 1)], &[]);
}

#[test]
fn a_nul_is_an_offer_but_no_neighbour() {
    check("a", b"\x7f", &[event(abi::EVENT_COMPARE, 1, 0, 0x7f)], &["a\0"]);
    let probed = Probed { input: b"\x7f", keep: 0, sentinel: 0x7f };
    let one = [event(abi::EVENT_COMPARE, 1, 1, 0x7f)];
    let made = offers(probed, &one, &Demands::default(), &mut Ranges::new(), &mut Rng::new(0, 0));
    assert_eq!(made.texts.iter().map(|offer| offer.text[0]).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn bytes_above_127_are_known_with_and_without_their_sign() {
    let signed = event(abi::EVENT_COMPARE, 4, 0xffff_ffe2, 0xffff_ffc3);
    check("", b"\xc3", &[signed, event(abi::EVENT_COMPARE, 1, 0xe2, 0xc3)], &["\u{e2}"]);
}

#[test]
fn texts_take_the_place_of_the_word_they_were_compared_with() {
    check("x=wh", b"\x01", &[text(b"wh", b"while")], &["x=while"]);
    check("x=wh", b"\x01", &[text(b"while", b"wh\x01")], &["x=while"]);
    check("x=wh", b"\x01", &[text(b"zz", b"while")], &[]);
    check("[", b"qqqqqqqq", &[text(b"qqqq", b"null")], &["[null"]);
    check("[", b"qqq", &[text(b"qqq\0garbage", b"false")], &["[false"]);
    // Whatever case it was turned into.
    check("Wh", b"\x01", &[text(b"WH", b"WHILE")], &["WHILE"]);
}

#[test]
fn texts_that_are_compared_as_numbers_are_offers() {
    let number = |text: &[u8; 8]| u64::from_le_bytes(*text);
    let compared = event(abi::EVENT_COMPARE, 8, number(b"\x01parse\0\0"), number(b"\x01qqqqq\0\0"));
    check("a.", b"qqqqq", &[compared], &["a.parse"]);
    check("a.", b"qqqqqq", &[compared], &[]);
    let beginning = event(abi::EVENT_COMPARE, 4, number(b"true\0\0\0\0"), number(b"qqqq\0\0\0\0"));
    check("", b"qqqqqq", &[beginning], &["true"]);
    let part = event(abi::EVENT_COMPARE, 8, number(b"isNaN\0\0\0"), number(b"\x03qqq\0\0\0\0"));
    check("", b"qqq", &[part], &[]);
}

#[test]
fn numbers_above_bytes_are_codes() {
    let input = b"x\x7f";
    let probed = Probed { input, keep: 1, sentinel: 0x7f };
    let events = [event(abi::EVENT_COMPARE, 4, 0x103, 0x7f), event(abi::EVENT_COMPARE, 4, 0x104, 0x7e)];
    let offered = offers(probed, &events, &Demands::default(), &mut Ranges::new(), &mut Rng::new(0, 0));
    assert_eq!(offered.codes.iter().map(|code| code.value).collect::<Vec<_>>(), [0x103]);
    assert!(offered.texts.is_empty());
}

#[test]
fn what_is_searched_for_and_what_is_searched_are_both_offers() {
    let mut searched = event(abi::EVENT_SET, 1, 1, 2);
    searched.of.text.x = [b'+'; abi::TEXT_MAX];
    check("", b"\x01", &[searched], &["+"]);
    let mut line = event(abi::EVENT_SET, 1, u64::from(b'='), 3);
    line.of.text.x = [1; abi::TEXT_MAX];
    check("ab", b"\x01", &[line], &["ab="]);
}

#[test]
fn a_folded_sentinel_is_still_the_sentinel() {
    let fold = event(abi::EVENT_FOLD, 1, u64::from(b'Q'), u64::from(b'q'));
    let compared = event(abi::EVENT_COMPARE, 4, u64::from(b'e'), u64::from(b'q'));
    check("1", b"Q", &[compared], &[]);
    check("1", b"Q", &[fold, compared], &["1e"]);
}

#[test]
fn neighbours_are_offered_once_for_a_place() {
    let events = [event(abi::EVENT_COMPARE, 1, 0x2f, 1), event(abi::EVENT_COMPARE, 1, 0x2f, 1)];
    let probed = Probed { input: b"\x01", keep: 0, sentinel: 1 };
    let mut ranges = Ranges::new();
    let mut made = |events: &[Event]| -> Vec<u8> {
        offers(probed, events, &Demands::default(), &mut ranges, &mut Rng::new(0, 0))
            .texts
            .iter()
            .map(|o| o.text[0])
            .collect()
    };
    assert_eq!(made(&events), b"/0.");
    assert_eq!(made(&events), b"/");
}
