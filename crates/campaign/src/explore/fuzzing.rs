//! What a search makes of events that are foreign data.

use super::covered::Covered;
use super::demand::Demands;
use super::offers::{self, Ranges};
use super::sight::Sight;
use super::tokens::Place;
use super::words::Words;
use std::time::Duration;
use wug_random::Rng;
use wug_runtime::abi;
use wug_target::{Observation, Verdict};

/// What a search makes of the events of a run, whatever they are: for
/// [`crate::fuzzing`].
pub(crate) fn use_events(events: &[abi::Event], pairs: &[u32], input: &[u8]) {
    let keep = input.len() - 1;
    let probed = offers::Probed { input, keep, sentinel: input[keep] };
    let seen = Observation {
        verdict: Verdict::Ok,
        wall: Duration::ZERO,
        cpu: None,
        coverage: &[],
        events,
        pairs,
        depth: u32::MAX,
        output: &[],
    };
    let sight = Sight::of(&seen, probed, &Demands::default());
    assert!(sight.reached <= pairs.len() && sight.first <= events.len());
    let mut rng = Rng::new(1, 0);
    let offered = offers::offers(probed, events, &Demands::default(), &mut Ranges::default(), &mut rng);
    assert!(offered.texts.iter().all(|offer| offer.keep <= input.len()));
    for at in 0..events.len() {
        Place::of(events, at);
    }
    let (words, mut covered) = (Words::default(), Covered::default());
    covered.add(&words, pairs, events);
    covered.news(&words, pairs, events);
}
