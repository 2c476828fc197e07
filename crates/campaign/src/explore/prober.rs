//! Demand: what the parser asks for, told by executions of the traced build.
//!
//! In:  inputs, with sentinels that cannot be expected.
//! Out: what the parser would have liked in their place, and its state.

use super::covered::Deed;
use super::deciders::Deciders;
use super::demand::{Demands, Wish};
use super::knowledge::Knowledge;
use super::nodes::FRESH;
use super::offers::{Offered, Probed, Ranges, offers};
use super::runner::AheadRunner;
use super::sight::Sight;
use super::tokens::Place;
use wug_random::Rng;
use wug_runtime::abi::Event;
use wug_target::{Error, Executor, Observation, Verdict};

/// What programs are asked with whether they read all of it first: bytes that
/// parsers look at in different places, and one that hardly any expects.
const FIRST: &[u8; 8] = b"a0[\"(-{<";
const UNKNOWN: u8 = 0x7f;

/// Executes the traced build.
pub struct Prober {
    runner: AheadRunner,
    demands: Demands,
    ranges: Ranges,
    /// Whether tables decide.
    pub deciders: Deciders,
    /// Executions.
    pub execs: u64,
    /// Offers that comparisons made.
    pub offers: u64,
    /// Events that comparisons left.
    pub compared: u64,
    /// What the last look showed besides the parser's state.
    pub glance: Glance,
}

/// What a look shows besides the parser's state.
#[derive(Default)]
pub struct Glance {
    pub offered: Offered,
    /// Where the code of a token was compared.
    pub place: Option<Place>,
    /// What the parser insisted on.
    pub wishes: Vec<Wish>,
    /// What the run did that no valid input did.
    pub fresh: Vec<Deed>,
}

impl Prober {
    pub fn new(runner: AheadRunner) -> Prober {
        Prober {
            runner,
            demands: Demands::default(),
            ranges: Ranges::new(),
            deciders: Deciders::default(),
            execs: 0,
            offers: 0,
            compared: 0,
            glance: Glance::default(),
        }
    }

    /// The executor that answers.
    pub fn executor(&self) -> &Executor {
        self.runner.executor()
    }

    /// An input is going to be executed, as it seems.
    pub fn expect(&mut self, input: impl FnOnce() -> Option<Vec<u8>>) {
        self.runner.expect(input);
    }

    /// Executes an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, Error> {
        self.execs += 1;
        self.runner.run(input)
    }

    /// Learns which places only read the input, before anything depends on it.
    pub fn look_for_scans(&mut self) -> Result<(), Error> {
        for first in FIRST {
            let probe = [*first, UNKNOWN];
            self.execs += 1;
            let seen = self.runner.run(&probe)?;
            self.demands.learn_scans(Probed { input: &probe, keep: 1, sentinel: UNKNOWN }, seen.events);
        }
        Ok(())
    }

    /// Executes an input with a tail of sentinels behind it; the parser's
    /// state. What it asks for is in `glance`.
    pub fn look(
        &mut self,
        input: &[u8],
        byte: u8,
        tail: usize,
        known: &mut Knowledge,
        rng: &mut Rng,
    ) -> Result<Sight, Error> {
        self.execs += 1;
        let mut probe = input.to_vec();
        probe.resize(input.len() + tail, byte);
        let seen = self.runner.run(&probe)?;
        let probed = Probed { input: &probe, keep: input.len(), sentinel: byte };
        self.demands.learn_scans(probed, seen.events);
        let sight = Sight::of(&seen, probed, &self.demands);
        let offered = offers(probed, seen.events, &self.demands, &mut self.ranges, rng);
        let wishes = self.demands.of(seen.events, &offered);
        let place = offered.token.map(|at| Place::of(seen.events, at as usize));
        let mut fresh =
            known.covered.news(&known.words, &seen.pairs[..sight.reached], &seen.events[..sight.first]);
        fresh.truncate(FRESH);
        if sight.touched && matches!(sight.verdict, Verdict::Exit(_)) {
            known.rejects.reject(seen.coverage);
        }
        if let Some(last) = sight.last.filter(|_| tail == 1 && !input.is_empty()) {
            self.deciders.learn(probed, &seen.events[last]);
        }
        self.offers += (offered.texts.len() + offered.codes.len()) as u64;
        self.compared += sight.compared as u64;
        known.inner.see(&sight.places);
        self.glance = Glance { offered, place, wishes, fresh };
        Ok(sight)
    }

    /// Executes a probe: what the parser asks for in place of its sentinel.
    pub fn probe(&mut self, probed: Probed<'_>, rng: &mut Rng) -> Result<Offered, Error> {
        self.execs += 1;
        let seen = self.runner.run(probed.input)?;
        Ok(offers(probed, seen.events, &self.demands, &mut self.ranges, rng))
    }

    /// The same by some events only, and what is seen of all.
    pub fn probe_at(
        &mut self,
        probed: Probed<'_>,
        is_wanted: impl FnMut(&&Event) -> bool,
        rng: &mut Rng,
    ) -> Result<(Offered, Sight), Error> {
        self.execs += 1;
        let seen = self.runner.run(probed.input)?;
        let events: Vec<Event> = seen.events.iter().filter(is_wanted).copied().collect();
        let offered = offers(probed, &events, &self.demands, &mut self.ranges, rng);
        Ok((offered, Sight::of(&seen, probed, &self.demands)))
    }
}
