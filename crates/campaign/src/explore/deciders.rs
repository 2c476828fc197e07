//! Whether a parser's tables decide, so that what it expects cannot be seen.
//!
//! In:  the last look at the sentinel in each run.
//! Out: whether these are of a few places that ask for no character, but for
//!      a number that none has.
//!
//! Parsers that are written by hand give up where they stand: the place, or
//! the calls that led there, differ with what stands before, and the place asks
//! for something. A parser of bison looks at each token in the same few places,
//! whatever the state, and asks whether its number is one that the tables have.
//! Its lexer, by hand or not, may compare characters before. A look that asks for
//! the end (0 or -1) tells nothing: it is the last one in many parsers by hand.

use super::offers::Probed;
use super::sight::place;
use std::collections::HashMap;
use wug_runtime::abi::{self, Event};

/// Runs before anything is said.
const FEW: u32 = 300;
/// Places that nearly all runs end in.
const PLACES: usize = 4;
/// Places that are remembered: many are enough to know that there are not few.
const MOST: usize = 256;

/// The last looks at the sentinel.
#[derive(Clone, Debug, Default)]
pub struct Deciders {
    runs: u32,
    /// Runs in which the last look asked for a number that no character has.
    numbers: u32,
    places: HashMap<u64, u32>,
}

impl Deciders {
    /// Learns from a run, whose last look at the tail is given.
    pub fn learn(&mut self, probed: Probed<'_>, last: &Event) {
        self.runs = self.runs.saturating_add(1);
        self.numbers += u32::from(asks_for_number(last, probed.sentinel));
        let place = place(last, last.context, 2);
        if self.places.len() < MOST || self.places.contains_key(&place) {
            *self.places.entry(place).or_default() += 1;
        }
    }

    /// Whether tables decide: 19 of 20 runs end in a few places, and three of
    /// four ask for a number there.
    pub fn are_tables(&self) -> bool {
        let mut counts: Vec<u64> = self.places.values().map(|count| u64::from(*count)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let runs = u64::from(self.runs);
        let few = counts.iter().take(PLACES).sum::<u64>() * 20 >= runs * 19;
        self.runs >= FEW && few && u64::from(self.numbers) * 4 >= runs * 3
    }
}

/// Whether an event compared the sentinel with nothing but a number that is
/// neither a character nor an end.
fn asks_for_number(event: &Event, sentinel: u8) -> bool {
    let is_number = |value: u64| (0x80..1 << 31).contains(&value);
    match event.kind {
        abi::EVENT_COMPARE => is_number(if event.b == u64::from(sentinel) { event.a } else { event.b }),
        abi::EVENT_SWITCH => event.cases().iter().all(|case| is_number(*case)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBED: Probed<'_> = Probed { input: b"a\x7f", keep: 1, sentinel: 0x7f };

    fn look(site: u32, wanted: u64) -> Event {
        // SAFETY: every pattern of bytes is an event.
        let mut event: Event = unsafe { std::mem::zeroed() };
        (event.kind, event.site, event.size) = (abi::EVENT_COMPARE, site, 4);
        (event.a, event.b) = (wanted, 0x7f);
        event
    }

    fn decided(runs: u32, event: impl Fn(u32) -> Event) -> bool {
        let mut deciders = Deciders::default();
        (0..runs).for_each(|run| deciders.learn(PROBED, &event(run)));
        deciders.are_tables()
    }

    #[test]
    fn a_few_places_that_ask_for_numbers_are_tables() {
        assert!(decided(1000, |run| look(run % 3, 256)));
        assert!(decided(1000, |run| if run % 5 == 0 { look(4, b'='.into()) } else { look(0, 259) }));
        assert!(!decided(FEW - 1, |_| look(0, 256)), "too few runs");
    }

    #[test]
    fn many_places_characters_or_ends_are_a_parser() {
        assert!(!decided(1000, |run| look(run % 9, 300)), "codes of tokens");
        assert!(!decided(1000, |_| look(0, b']'.into())), "a character");
        assert!(!decided(1000, |run| look(0, if run % 3 == 0 { b']'.into() } else { 300 })));
        for end in [0, 0xffff_ffff] {
            assert!(!decided(1000, |_| look(0, end)), "an end");
        }
    }
}
