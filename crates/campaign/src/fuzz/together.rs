//! Inputs that wait to be run together: nearly all runs tell nothing, and a
//! target that can tell that by itself is asked once for many.
//!
//! What is made of an entry does not depend on how the inputs just before did,
//! but for the choice of mutators, which learns a little later.

use super::execute::Making;
use super::{Campaign, Error};
use wug_target::Batch;

/// Inputs that are run together at most, and their bytes.
const INPUTS: usize = 32;
const BYTES: usize = 1 << 17;

/// Inputs that wait, each with its mutator and what it cost to make it.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    batch: Batch,
    made: Vec<(usize, f64, Making)>,
}

impl Campaign<'_> {
    /// Runs `input`, made by a mutator at this cost, now or with others.
    pub(super) fn submit(&mut self, arm: usize, cost: f64, making: Making) -> Result<(), Error> {
        let counts_wanted = self.learned.as_ref().is_some_and(|learned| learned.wants_counts());
        if counts_wanted || self.options.plain {
            // What others found first must stay first.
            let input = std::mem::take(&mut self.input);
            let run = self.run_waiting();
            self.input = input;
            run?;
            let worth = self.execute(&making)?;
            self.bandit.learn(arm, cost + worth.cost, worth.gain);
            return Ok(());
        }
        self.waiting.batch.push(&self.input);
        self.waiting.made.push((arm, cost, making));
        let (count, bytes) = (self.waiting.batch.len(), self.waiting.batch.size());
        let last = self.options.max_execs.is_some_and(|most| self.figures.own().1 + count as u64 >= most);
        if count >= INPUTS || bytes >= BYTES || last { self.run_waiting() } else { Ok(()) }
    }

    /// Runs all that waits.
    pub(super) fn run_waiting(&mut self) -> Result<(), Error> {
        // Not in place: what is found may lead to other runs.
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut at = 0;
        while at < waiting.batch.len() && !self.is_over() {
            let (place, seen) = self.executor.run_batch(&waiting.batch, at, self.feedback.seen())?;
            let (verdict, wall) = (seen.verdict, seen.wall);
            let news = self.feedback.has_news(seen.coverage);
            self.counts.clear();
            self.counts.extend_from_slice(seen.coverage);
            for (offset, (arm, cost, _)) in waiting.made[at..place].iter().enumerate() {
                let length = waiting.batch.get(at + offset).len();
                let run = self.ran(length, wall);
                self.bandit.learn(*arm, cost + run, 0.0);
            }
            self.input.clear();
            self.input.extend_from_slice(waiting.batch.get(place));
            let (arm, cost, making) = &waiting.made[place];
            let worth = self.judge(verdict, wall, news, making)?;
            self.bandit.learn(*arm, cost + worth.cost, worth.gain);
            at = place + 1;
        }
        waiting.batch.clear();
        waiting.made.clear();
        self.waiting = waiting;
        Ok(())
    }
}
