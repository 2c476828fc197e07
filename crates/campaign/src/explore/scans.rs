//! Places that only read the input, before the parser looks at it.
//!
//! In:  logs of runs on inputs that end with sentinels.
//! Out: which places look at the sentinel before the parser begins.
//!
//! A program that copies its input byte by byte (`while ((c = getchar()) !=
//! EOF)`), counts lines or checks characters looks at the sentinel before the
//! parser looks at anything. Such a look tells neither how far the parser came
//! nor that it came to the sentinel at all. We know it by what follows: places
//! that were silent until then look at the first byte of the input again. A
//! parser that reads as it goes never does, or only now and then, where a name
//! is looked up that is all of the input: so a place must do it in nearly all
//! runs.

use super::offers::Probed;
use super::sight::place;
use std::collections::{HashMap, HashSet};
use wug_runtime::abi::{self, Event};

/// Runs before a place is known to read only.
const FEW: u32 = 6;
/// Places that are remembered.
const MOST: usize = 1 << 16;

/// How often a place looked at the sentinel.
#[derive(Clone, Copy, Debug, Default)]
struct Looks {
    all: u32,
    /// Before the input was read from its beginning again.
    early: u32,
}

/// Places that looked at sentinels.
#[derive(Clone, Debug, Default)]
pub struct Scans {
    places: HashMap<u64, Looks>,
}

impl Scans {
    /// Whether a place only reads: three times in four, at least, the input
    /// was read from its beginning after it.
    pub fn reads_only(&self, event: &Event) -> bool {
        let looks = self.places.get(&here(event)).copied().unwrap_or_default();
        looks.all >= FEW && 4 * looks.early >= 3 * looks.all
    }

    /// Learns from a run.
    pub fn learn(&mut self, probed: Probed<'_>, events: &[Event]) {
        // What is read again can only be told where something stands before
        // the tail.
        let Some(first) = probed.input[..probed.keep].first() else { return };
        let mut aliases = Vec::new();
        let looks: Vec<bool> = events.iter().map(|event| probed.touches(event, &mut aliases)).collect();
        let Some(look) = looks.iter().position(|looks| *looks) else { return };
        let known: HashSet<u64> = events[..=look].iter().map(here).collect();
        let again = (look + 1..events.len())
            .find(|at| looks_at(&events[*at], *first) && !known.contains(&here(&events[*at])));
        let mut seen = HashSet::new();
        for (at, event) in events.iter().enumerate().filter(|(at, _)| looks[*at]) {
            let place = here(event);
            let room = self.places.len() < MOST || self.places.contains_key(&place);
            if room && seen.insert(place) {
                let known = self.places.entry(place).or_default();
                known.all += 1;
                known.early += u32::from(again.is_some_and(|again| at < again));
            }
        }
    }
}

fn here(event: &Event) -> u64 {
    place(event, event.near[0].into(), 0)
}

/// Whether an event looks at a byte. Texts are left out: names are compared
/// when they are over.
fn looks_at(event: &Event, byte: u8) -> bool {
    let is_it = |value: u64| {
        let bits = 8 * u32::from(event.size.clamp(1, 8));
        let value = value & (u64::MAX >> (64 - bits));
        value == u64::from(byte) || value == i64::from(byte as i8) as u64 & (u64::MAX >> (64 - bits))
    };
    match event.kind {
        // A constant is what the program wants, not what it has.
        abi::EVENT_COMPARE => is_it(event.b) || event.flags & abi::FLAG_CONSTANT == 0 && is_it(event.a),
        abi::EVENT_SWITCH => is_it(event.a),
        abi::EVENT_CLASS | abi::EVENT_FOLD | abi::EVENT_SET => event.a & 0xff == u64::from(byte),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(site: u32, value: u8) -> Event {
        // SAFETY: every pattern of bytes is an event.
        let mut event: Event = unsafe { std::mem::zeroed() };
        (event.kind, event.flags, event.size) = (abi::EVENT_COMPARE, abi::FLAG_CONSTANT, 4);
        (event.site, event.a, event.b) = (site, u64::from(b'?'), value.into());
        event
    }

    /// Places 1 and 2 of runs on these inputs, with `~` behind each.
    fn learned(run: impl Fn(&[u8]) -> Vec<Event>) -> [bool; 2] {
        let mut scans = Scans::default();
        for input in ["", "[~", "a~", "ab~", "[]~", "[[~", "{}~", "x[~", "y~"] {
            let probed =
                Probed { input: input.as_bytes(), keep: input.len().saturating_sub(1), sentinel: b'~' };
            scans.learn(probed, &run(input.as_bytes()));
        }
        [1, 2].map(|site| scans.reads_only(&look(site, 0)))
    }

    #[test]
    fn a_loop_that_reads_all_before_the_parser_begins_is_known() {
        let all = |site: u32, input: &[u8]| input.iter().map(|byte| look(site, *byte)).collect::<Vec<_>>();
        assert_eq!(learned(|input| [all(1, input), all(2, input)].concat()), [true, false]);
        // The parser gave up at the first byte.
        assert_eq!(
            learned(|input| [all(1, input), all(2, &input[..input.len().min(1)])].concat()),
            [true, false]
        );
    }

    #[test]
    fn a_parser_that_reads_as_it_goes_has_none() {
        let both = |input: &[u8]| input.iter().flat_map(|byte| [look(1, *byte), look(2, *byte)]).collect();
        assert_eq!(learned(both), [false, false]);
        // A name that is all of the input is looked up behind its end.
        let names = |input: &[u8]| {
            let mut events: Vec<Event> = input.iter().map(|byte| look(1, *byte)).collect();
            events.extend(input.first().filter(|byte| byte.is_ascii_lowercase()).map(|byte| look(2, *byte)));
            events
        };
        assert_eq!(learned(names), [false, false]);
    }
}
