//! Seeds that wait to be run, beside the campaign.
//!
//! In:  the seeds.
//! Out: one after the other, as long as they may take.
//!
//! The smallest come first: they are quick, and what large ones reach besides
//! is less. A seed that reaches nothing new is not kept, so the corpus is
//! minimal by coverage while it is loaded. Mutation begins after a few seconds
//! and has as much time as seeds from then on, until all of them were run.

use super::budget::Budget;
use super::runner::{Point, Runner};
use super::seeds::Seed;
use std::collections::VecDeque;
use std::time::Duration;

/// What goes into seeds before the first turn, in executions and in time; one
/// in so many executions from then on, or so much for each second of mutation.
const FIRST: (u64, Duration) = (20_000, Duration::from_secs(2));
const SHARE: u32 = 2;
const BESIDE: f64 = 1.0;
/// A slice between two turns, in executions and in time.
const SLICE: (u64, Duration) = (256, Duration::from_millis(200));

/// Seeds that wait.
pub(crate) struct Loading {
    waiting: VecDeque<Seed>,
    budget: Budget,
}

impl Loading {
    pub fn new(seeds: Vec<Seed>) -> Loading {
        Loading { waiting: seeds.into(), budget: Budget::new(SHARE, BESIDE, FIRST).fixed() }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The next seed of a slice that began then; of the first one, while there
    /// is nothing to mutate.
    pub fn next(&mut self, slice: Option<Point>, runner: &mut Runner<'_>) -> Option<Seed> {
        if self.waiting.is_empty() || runner.is_over() {
            return None;
        }
        let is_late = slice.is_some_and(|begin| {
            let (time, execs) = runner.since(begin);
            !self.budget.allows(runner)
                || if runner.is_repeatable() { execs >= SLICE.0 } else { time >= SLICE.1 }
        });
        if is_late { None } else { self.waiting.pop_front() }
    }

    /// Whether the first slice is over.
    pub fn may_wait(&self, runner: &Runner<'_>) -> bool {
        !self.budget.allows(runner)
    }

    /// A seed took so much.
    pub fn spend(&mut self, spent: (Duration, u64)) {
        self.budget.spend(spent);
    }
}
