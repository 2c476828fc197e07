//! What valid inputs have covered: pairs of blocks, and comparisons that held.
//!
//! Pairs alone miss what tables hold: a parser that looks operators up in one
//! loop runs the same blocks for all of them. So a comparison with a constant
//! that held, the case that a switch took, and a text that was equal count
//! too, each by its place in the program and the value.

use super::words::Words;
use std::collections::{HashMap, HashSet};
use wug_random::hash;
use wug_runtime::abi::{self, Event};

/// Values that count at one place: a place that compares names or numbers of
/// the input holds for any of them.
const MOST_VALUES: u16 = 256;
const MOST_TEXTS: u16 = 64;

/// Something that a run did: it went from one block to another, or a
/// comparison held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deed(u64);

/// What valid inputs have covered.
#[derive(Clone, Debug, Default)]
pub struct Covered {
    deeds: HashSet<Deed>,
    places: HashMap<u64, u16>,
}

impl Covered {
    /// Whether a deed is covered.
    pub fn has(&self, deed: Deed) -> bool {
        self.deeds.contains(&deed)
    }

    /// What is new in a run, or in the beginning of one.
    pub fn news(&self, words: &Words, pairs: &[u32], events: &[Event]) -> Vec<Deed> {
        let pairs = pairs.iter().map(|pair| Deed(u64::from(*pair)));
        let held = events.iter().filter_map(|event| {
            let (place, deed, most) = held(event, words)?;
            (self.places.get(&place).is_none_or(|count| *count < most)).then_some(deed)
        });
        let mut seen = HashSet::new();
        pairs.chain(held).filter(|deed| !self.has(*deed) && seen.insert(*deed)).collect()
    }

    /// Adds what a run covered; whether there was anything new.
    pub fn add(&mut self, words: &Words, pairs: &[u32], events: &[Event]) -> bool {
        let before = self.deeds.len();
        self.deeds.extend(pairs.iter().map(|pair| Deed(u64::from(*pair))));
        for event in events {
            if let Some((place, deed, most)) = held(event, words)
                && !self.has(deed)
            {
                let count = self.places.entry(place).or_default();
                if *count < most {
                    *count += 1;
                    self.deeds.insert(deed);
                }
            }
        }
        self.deeds.len() > before
    }
}

/// That a comparison held: its place, the deed, and how many values count at
/// that place.
fn held(event: &Event, words: &Words) -> Option<(u64, Deed, u16)> {
    let equal = event.flags & abi::FLAG_EQUAL != 0;
    let (value, most) = match event.kind {
        abi::EVENT_COMPARE if equal && event.flags & abi::FLAG_CONSTANT != 0 => (event.a, MOST_VALUES),
        abi::EVENT_COMPARE if equal && is_word(event.a, event.size, words) => (event.a, MOST_TEXTS),
        abi::EVENT_SWITCH if event.cases().contains(&event.a) => (event.a, MOST_VALUES),
        abi::EVENT_SET if equal => (event.a, MOST_VALUES),
        abi::EVENT_TEXT if equal && event.x().len() > 1 => (hash(event.x()), MOST_TEXTS),
        _ => return None,
    };
    let place = u64::from(event.module) << 32 | u64::from(event.site);
    Some((place, Deed::of(place, value), most))
}

/// Whether a number holds a word, as short texts are compared: one run of at
/// least two characters.
fn is_word(value: u64, size: u8, words: &Words) -> bool {
    let bytes = &value.to_le_bytes()[..usize::from(size.min(8))];
    let mut runs = bytes.split(|byte| !byte.is_ascii_graphic()).filter(|run| run.len() > 1);
    match (runs.next(), runs.next()) {
        (Some(text), None) => words.is_known(text),
        _ => false,
    }
}

impl Deed {
    /// That a comparison at a place of the program held for a value.
    fn of(place: u64, value: u64) -> Deed {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&place.to_le_bytes());
        bytes[8..].copy_from_slice(&value.to_le_bytes());
        // Pairs are numbers below this bit.
        Deed(hash(&bytes) | 1 << 63)
    }

    /// The same, where an event made that comparison.
    pub fn at(module: u16, site: u32, value: u64) -> Deed {
        Deed::of(u64::from(module) << 32 | u64::from(site), value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(flags: u8, site: u32, a: u64) -> Event {
        // SAFETY: every pattern of bytes is an event.
        let mut event: Event = unsafe { std::mem::zeroed() };
        (event.kind, event.flags, event.site, event.a) = (abi::EVENT_COMPARE, flags, site, a);
        event
    }

    #[test]
    fn pairs_and_comparisons_that_hold_are_news_once() {
        let mut covered = Covered::default();
        assert!(covered.add(&Words::default(), &[3, 70_000], &[]));
        assert_eq!(covered.news(&Words::default(), &[3, 4, 70_000], &[]), [Deed(4)]);
        assert!(!covered.add(&Words::default(), &[3], &[]));
        let yes = abi::FLAG_EQUAL | abi::FLAG_CONSTANT;
        assert!(!covered.add(&Words::default(), &[], &[event(abi::FLAG_CONSTANT, 1, 7)]), "it did not hold");
        assert!(covered.add(&Words::default(), &[], &[event(yes, 1, 7)]));
        assert!(!covered.add(&Words::default(), &[], &[event(yes, 1, 7)]));
        assert!(covered.add(&Words::default(), &[], &[event(yes, 2, 7)]), "another place");
    }

    #[test]
    fn a_word_that_was_equal_as_a_number_counts() {
        let (mut covered, mut words) = (Covered::default(), Words::default());
        let held = |size: u8| Event {
            size,
            ..event(abi::FLAG_EQUAL, 1, u64::from_le_bytes(*b"\x03NaN\0\0\xf4\xff"))
        };
        assert!(!covered.add(&words, &[], &[held(8)]), "it is no word yet");
        words.learn(b"NaN");
        assert!(!covered.add(&words, &[], &[held(2)]), "it is not all compared");
        assert!(covered.add(&words, &[], &[held(8)]));
        assert!(!covered.add(&words, &[], &[held(8)]), "once");
    }

    #[test]
    fn a_place_that_holds_for_anything_is_news_for_a_while() {
        let mut covered = Covered::default();
        let yes = abi::FLAG_EQUAL | abi::FLAG_CONSTANT;
        let news =
            (0..10_000).filter(|value| covered.add(&Words::default(), &[], &[event(yes, 1, *value)])).count();
        assert_eq!(news, usize::from(MOST_VALUES));
    }
}
