//! What would have satisfied a comparison: from events to texts.
//!
//! In:  the log of a run on an input that ends with a sentinel.
//! Out: offers, each a text that can take the place of the input's end.
//!
//! Compilers do not say which relation was tested, and they shift constants
//! by one (`>= '0'` becomes `> '/'`): so both neighbours of a value are
//! offered too, as long as they are news of that place in the program.

use std::collections::HashSet;
use wug_produce::rng::Rng;
use wug_runtime::abi::{self, Event};

/// What kind of comparison an offer satisfies; it is told in names of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A character that was compared.
    Character,
    /// The neighbour of one.
    Neighbour,
    /// A case of a switch.
    Case,
    /// A member of a class of characters.
    Class,
    /// An element of a set that was searched, or what was searched for.
    Set,
    /// A text that was compared.
    Text,
    /// A word that was learned elsewhere.
    Word,
    /// A letter, digit or space, to see what happens.
    Guess,
    /// What closed such a construct before.
    Closing,
    /// The rest of another valid input.
    Combined,
}

impl Kind {
    /// Its name, as in names of entries.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Character => "character",
            Kind::Neighbour => "neighbour",
            Kind::Case => "case",
            Kind::Class => "class",
            Kind::Set => "set",
            Kind::Text => "text",
            Kind::Word => "word",
            Kind::Guess => "guess",
            Kind::Closing => "closing",
            Kind::Combined => "combined",
        }
    }
}

/// A text that can stand behind the first bytes of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// How many bytes of the input stay.
    pub keep: usize,
    /// What follows them.
    pub text: Vec<u8>,
    /// Why.
    pub kind: Kind,
}

/// An input with a tail of sentinels.
#[derive(Clone, Copy, Debug)]
pub struct Probed<'a> {
    /// All of it.
    pub input: &'a [u8],
    /// How many bytes are not of the tail.
    pub keep: usize,
    /// What the tail is made of.
    pub sentinel: u8,
}

/// Texts are taken up to this length.
const LONGEST: usize = 40;

impl Probed<'_> {
    /// Whether an operand of so many bytes is the sentinel, or one of the
    /// values that it was turned into.
    fn is_it(&self, value: u64, size: u8, aliases: &[u64]) -> bool {
        let wide = i64::from(self.sentinel as i8) as u64;
        let mask = if size >= 8 { u64::MAX } else { (1 << (8 * u32::from(size.max(1)))) - 1 };
        let value = value & mask;
        value == u64::from(self.sentinel) || value == wide & mask || aliases.contains(&value)
    }

    /// Where in the input a text begins that the program had in its hands:
    /// it must reach into the tail, or end where that begins.
    fn locate(&self, text: &[u8]) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        let same = |a: &[u8], b: &[u8]| a.eq_ignore_ascii_case(b);
        let first = self.keep.saturating_sub(text.len());
        (first..=self.keep).find(|&from| {
            let rest = &self.input[from..];
            if rest.is_empty() {
                return false;
            }
            let common = rest.len().min(text.len());
            // A text that is longer than the rest read on into other memory.
            from + common >= self.keep && same(&rest[..common], &text[..common])
        })
    }

    /// Whether an event looked at the tail.
    pub fn touches(&self, event: &Event, aliases: &mut Vec<u64>) -> bool {
        match event.kind {
            abi::EVENT_COMPARE => {
                self.is_it(event.a, event.size, aliases) || self.is_it(event.b, event.size, aliases)
            }
            abi::EVENT_SWITCH | abi::EVENT_CLASS => self.is_it(event.a, event.size.max(4), aliases),
            abi::EVENT_SET => self.is_it(event.a, 1, aliases) || event.x().contains(&self.sentinel),
            // Texts that only end with it are about what comes before.
            abi::EVENT_TEXT => [event.x(), event.y()].iter().any(|text| text.first() == Some(&self.sentinel)),
            abi::EVENT_FOLD => {
                let it = self.is_it(event.a, 4, aliases);
                if it && event.b != event.a && aliases.len() < 4 {
                    aliases.push(event.b & 0xff);
                }
                it
            }
            _ => false,
        }
    }
}

/// Places in the program whose neighbours were offered.
pub type Ranges = HashSet<(u16, u32, u8)>;

/// Collects what a run's comparisons of the tail offer, each once.
pub fn offers(probed: Probed<'_>, events: &[Event], ranges: &mut Ranges, rng: &mut Rng) -> Vec<Offer> {
    let mut all = Collected { probed, offers: Vec::new(), seen: HashSet::new() };
    let mut aliases = Vec::new();
    for event in events {
        match event.kind {
            abi::EVENT_COMPARE => {
                let other = match () {
                    () if probed.is_it(event.b, event.size, &aliases) => event.a,
                    () if probed.is_it(event.a, event.size, &aliases) => event.b,
                    () => continue,
                };
                if let Some(byte) = byte(other, event.size) {
                    all.byte(byte, Kind::Character);
                    if ranges.insert((event.module, event.site, byte)) {
                        all.byte(byte.wrapping_add(1), Kind::Neighbour);
                        all.byte(byte.wrapping_sub(1), Kind::Neighbour);
                    }
                }
            }
            abi::EVENT_SWITCH if probed.is_it(event.a, event.size, &aliases) => {
                for case in event.cases() {
                    if let Some(byte) = byte(*case, event.size) {
                        all.byte(byte, Kind::Case);
                        if ranges.insert((event.module, event.site, byte)) {
                            all.byte(byte.wrapping_add(1), Kind::Neighbour);
                            all.byte(byte.wrapping_sub(1), Kind::Neighbour);
                        }
                    }
                }
            }
            abi::EVENT_CLASS if probed.is_it(event.a, 4, &aliases) && event.flags & abi::FLAG_EQUAL == 0 => {
                for byte in members(event.function, rng) {
                    all.byte(byte, Kind::Class);
                }
            }
            abi::EVENT_SET if probed.is_it(event.a, 1, &aliases) => {
                for byte in event.x() {
                    all.byte(*byte, Kind::Set);
                }
            }
            abi::EVENT_SET if event.x().contains(&probed.sentinel) => all.byte(event.a as u8, Kind::Set),
            abi::EVENT_TEXT => {
                for (own, other) in [(event.x(), event.y()), (event.y(), event.x())] {
                    if let Some(from) = probed.locate(own) {
                        all.text(from, other);
                    }
                }
            }
            abi::EVENT_FOLD => drop(probed.touches(event, &mut aliases)),
            _ => {}
        }
    }
    all.offers
}

struct Collected<'a> {
    probed: Probed<'a>,
    offers: Vec<Offer>,
    seen: HashSet<(usize, Vec<u8>)>,
}

impl Collected<'_> {
    /// A NUL ends texts in C rather than being part of one: it is no offer.
    fn byte(&mut self, byte: u8, kind: Kind) {
        if byte != 0 && byte != self.probed.sentinel {
            self.add(self.probed.keep, &[byte], kind);
        }
    }

    fn text(&mut self, from: usize, text: &[u8]) {
        let text = &text[..text.iter().position(|byte| *byte == 0).unwrap_or(text.len())];
        // What is in the input already is not what it was compared with: the
        // program looked for a word where another stands.
        let own = |text: &[u8]| self.probed.input.windows(text.len()).any(|part| part == text);
        if !text.is_empty() && text.len() <= LONGEST && !own(text) {
            self.add(from, text, Kind::Text);
        }
    }

    fn add(&mut self, keep: usize, text: &[u8], kind: Kind) {
        if self.seen.insert((keep, text.to_vec())) {
            self.offers.push(Offer { keep, text: text.to_vec(), kind });
        }
    }
}

/// The byte that an operand stands for; negative numbers of a signed `char`
/// too, but not -1, which is the end of a file.
fn byte(value: u64, size: u8) -> Option<u8> {
    let bits = 8 * u32::from(size.clamp(1, 8));
    let signed = ((value << (64 - bits)) as i64) >> (64 - bits);
    match signed {
        0..=255 => Some(signed as u8),
        -128..=-2 => Some(signed as u8),
        -1 if size == 1 => Some(255),
        _ => None,
    }
}

/// Some members of a class.
fn members(class: u8, rng: &mut Rng) -> Vec<u8> {
    let all: Vec<u8> = (1..=127).filter(|byte| abi::in_class(class, *byte)).collect();
    if all.is_empty() {
        return all;
    }
    let plain = [b' ', b'a', b'A', b'0', b'1'].into_iter().filter(|byte| all.contains(byte));
    plain.take(2).chain([all[rng.below(all.len() as u32) as usize]]).collect()
}

#[cfg(test)]
mod tests {
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
        let made: Vec<String> = offers(probed, events, &mut ranges, &mut Rng::new(0, 0))
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
            offers(probed, events, &mut ranges, &mut Rng::new(0, 0)).iter().map(|o| o.text[0]).collect()
        };
        assert_eq!(made(&events), b"/0.");
        assert_eq!(made(&events), b"/");
    }
}
