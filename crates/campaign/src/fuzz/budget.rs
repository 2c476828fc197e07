//! The share of a campaign that a stage may take.
//!
//! In:  what the stage took, and what it found.
//! Out: whether it may go on, and for how long.
//!
//! Shares are shares of time, so that a stage whose runs are slow (traced
//! builds, long inputs, one word to the target for each) takes no more than one
//! whose runs are quick. They are measured by the time that mutation had: by
//! the time of all together, many stages with much to do would leave it none. A
//! stage that yields more in a second than the campaign as a whole gets up to
//! half as much again, one that yields less down to a quarter. Where campaigns
//! are to repeat, shares are of all executions and fixed.

use super::ledger::Activity;
use super::runner::Runner;
use std::time::Duration;

/// Yields move shares by so much at most, down and up.
const LESS: f64 = 0.25;
const MORE: f64 = 1.5;
/// Evidence that the campaign's own rate stands for, in seconds: the first
/// find of a stage says little.
const DOUBT: f64 = 5.0;

/// What a stage took and yielded.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    /// One in so many executions.
    share: u32,
    /// So much for each second of mutation.
    beside: f64,
    /// To begin with, in executions and in time.
    credit: (u64, Duration),
    pub execs: u64,
    pub time: Duration,
    gain: f64,
    /// Whether its share is the same whatever it yields.
    fixed: bool,
}

impl Budget {
    /// One in so many executions, or so much for each second of mutation, after
    /// some to begin with.
    pub fn new(share: u32, beside: f64, credit: (u64, Duration)) -> Budget {
        Budget { share, beside, credit, execs: 0, time: Duration::ZERO, gain: 0.0, fixed: false }
    }

    /// With a share that is the same whatever it yields.
    pub fn fixed(self) -> Budget {
        Budget { fixed: true, ..self }
    }

    /// The stage took so much.
    pub fn spend(&mut self, (time, execs): (Duration, u64)) {
        self.time += time;
        self.execs += execs;
    }

    /// The stage found something.
    pub fn gained(&mut self, gain: f64) {
        self.gain += gain;
    }

    /// Whether the stage may go on.
    pub fn allows(&self, runner: &Runner<'_>) -> bool {
        match runner.is_repeatable() {
            true => {
                let share = u64::from(self.share);
                self.execs * share <= runner.execs() + self.credit.0 * share
            }
            false => !self.left(runner).is_zero(),
        }
    }

    /// How long the stage may go on now; for ever where executions count.
    pub fn left(&self, runner: &Runner<'_>) -> Duration {
        match runner.is_repeatable() {
            true => Duration::MAX,
            false => {
                let rate = runner.gain() / runner.own_time().as_secs_f64().max(1e-3);
                self.time_left(runner.time_of(Activity::Mutate), rate)
            }
        }
    }

    /// The same by the time of mutation and the campaign's gain in a second.
    fn time_left(&self, mutation: Duration, rate: f64) -> Duration {
        let own = (self.gain + rate * DOUBT) / (self.time.as_secs_f64() + DOUBT);
        let worth = if rate > 0.0 && !self.fixed { (own / rate).clamp(LESS, MORE) } else { 1.0 };
        let share = mutation.mul_f64(worth * self.beside);
        share.saturating_add(self.credit.1).saturating_sub(self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn left(time: u32, gain: f64) -> f64 {
        let mut budget = Budget::new(4, 0.25, (0, SECOND));
        budget.spend((SECOND * time, 10));
        budget.gained(gain);
        budget.time_left(SECOND * 100, 1.0).as_secs_f64()
    }

    #[test]
    fn a_stage_has_its_share_of_time() {
        // It yields as much in a second as the campaign: a quarter of it.
        assert!((left(0, 0.0) - 26.0).abs() < 1e-6);
        assert!((left(20, 20.0) - 6.0).abs() < 1e-6);
        assert_eq!(left(30, 30.0), 0.0);
    }

    #[test]
    fn what_yields_more_gets_more_and_what_yields_nothing_less() {
        assert!((left(30, 400.0) - 8.5).abs() < 1e-6);
        assert_eq!(left(12, 0.0), 0.0);
        assert!(left(3, 0.0) > 0.0);
    }

    #[test]
    fn without_any_find_shares_are_as_they_are() {
        let budget = Budget::new(4, 0.25, (0, Duration::ZERO));
        assert_eq!(budget.time_left(SECOND * 8, 0.0), SECOND * 2);
        assert_eq!(budget.time_left(Duration::ZERO, 0.0), Duration::ZERO);
        let fixed = Budget { gain: 1e9, ..budget }.fixed();
        assert_eq!(fixed.time_left(SECOND * 8, 1.0), SECOND * 2);
    }
}
