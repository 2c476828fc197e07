//! What a parser asked for last before it gave up.
//!
//! In:  what the comparisons of a run offer, in their order.
//! Out: the few of them that came last.
//!
//! A parser tries what may come next, and in the end insists on something:
//! that is what leads on from there, and often what closes a construct. But
//! programs look at a byte once more to tell what is wrong with it, and
//! lexers look at every byte in the same way. Such places are known by being
//! in most runs; they are passed over.

use super::offers::{Kind, Offer, Offered, Probed};
use super::scans::Scans;
use std::collections::{HashMap, HashSet};
use wug_runtime::abi::Event;

/// Wishes of one place that are kept.
const MOST: usize = 2;
/// A place that is in one of so many runs asks for nothing in particular.
const OFTEN: u32 = 5;
/// Runs before a place is known to be in most of them.
const FEW: u32 = 12;

/// What a parser insisted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A text in place of the input's end.
    Text(Offer),
    /// A token of this code.
    Code(u64),
}

/// By what kind of place something was asked for; the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// By one that looks at the tail in few states.
    Here,
    /// By one that looks at every byte.
    Always,
    /// By one that reads the input before the parser does.
    Reading,
}

/// In how many runs each place looked at the sentinel.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    runs: u32,
    places: HashMap<(u16, u32), u32>,
    scans: Scans,
}

impl Demands {
    /// Of what kind the place of an event is.
    pub fn asked(&self, event: &Event) -> Asked {
        let seen = self.places.get(&(event.module, event.site)).copied().unwrap_or(0);
        match self.runs > FEW && 2 * seen > self.runs {
            _ if self.scans.reads_only(event) => Asked::Reading,
            true => Asked::Always,
            false => Asked::Here,
        }
    }

    /// Learns which places read only.
    pub fn learn_scans(&mut self, probed: Probed<'_>, events: &[Event]) {
        self.scans.learn(probed, events);
    }

    /// What a run insisted on.
    pub fn of(&mut self, events: &[Event], offered: &Offered) -> Vec<Wish> {
        let place = |at: u32| (events[at as usize].module, events[at as usize].site);
        let plain = |offer: &&Offer| offer.kind != Kind::Neighbour && offer.text != [0];
        let texts = offered.texts.iter().filter(plain).map(|offer| offer.at);
        let asked: HashSet<u32> = texts.chain(offered.codes.iter().map(|code| code.at)).collect();
        self.runs += 1;
        for place in asked.iter().map(|at| place(*at)).collect::<HashSet<_>>() {
            *self.places.entry(place).or_default() += 1;
        }
        // A place that tells what is wrong is in fewer runs than a lexer's,
        // for not all of them come that far.
        let often = |at: u32| self.runs > FEW && OFTEN * self.places[&place(at)] > self.runs;
        let Some(last) = asked.iter().copied().filter(|at| !often(*at)).max() else {
            return Vec::new();
        };
        let texts = offered.texts.iter().filter(plain).filter(|offer| offer.at == last);
        let codes = offered.codes.iter().filter(|code| code.at == last);
        let wishes = texts.cloned().map(Wish::Text).chain(codes.map(|code| Wish::Code(code.value)));
        wishes.take(MOST).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::covered::Deed;
    use super::super::offers::{Code, Wanted};
    use super::*;

    fn event(site: u32) -> Event {
        // SAFETY: every pattern of bytes is an event.
        let mut event: Event = unsafe { std::mem::zeroed() };
        event.site = site;
        event
    }

    #[test]
    fn the_last_place_counts_unless_it_is_always_the_last() {
        let mut demands = Demands::default();
        for run in 0..40 {
            let events = [event(run), event(1000)];
            let offer = |text: &[u8], at: u32| Offer {
                keep: 0,
                text: text.to_vec(),
                kind: Kind::Character,
                at,
                deed: Wanted { deed: Deed::at(0, 0, 0), here: 0 },
                asked: demands.asked(&events[at as usize]),
            };
            let both = [offer(b"]", 0), offer(b"?", 1)];
            let offered = Offered { texts: both.to_vec(), ..Offered::default() };
            let wishes = demands.of(&events, &offered);
            assert_eq!(wishes, [Wish::Text(both[usize::from(run < FEW)].clone())]);
        }
        let code =
            Code { value: 300, at: 0, deed: Wanted { deed: Deed::at(0, 0, 0), here: 0 }, asked: Asked::Here };
        let offered = Offered { codes: vec![code], ..Offered::default() };
        assert_eq!(demands.of(&[event(77)], &offered), [Wish::Code(300)]);
    }
}
