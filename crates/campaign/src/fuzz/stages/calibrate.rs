//! Calibration: edges that differ from run to run of one input are found by
//! running it again.
//!
//! In:  an input with new coverage.
//! Out: what of that coverage is sure; the mean time of an execution.

use crate::feedback::{Feedback, New};
use crate::fuzz::Error;
use crate::fuzz::ledger::Activity;
use crate::fuzz::runner::Runner;
use std::time::Duration;
use wug_target::{Verdict, coverage};

/// Executions of a new entry besides the first: flaky edges found early
/// against time.
const RUNS: usize = 3;
/// They take no longer than this together where time counts, but for the
/// first.
const TIME: Duration = Duration::from_millis(200);

/// Runs new entries again.
#[derive(Debug, Default)]
pub(crate) struct Calibrate;

impl Calibrate {
    /// Runs an input some more times, and removes what differs from `news`: it
    /// is no news again until it was the same for long. The mean time of a run,
    /// and whether runs differ.
    ///
    /// A run that was cut off, or that failed, tells nothing of the edges that
    /// it did not come to.
    pub fn run(
        &mut self,
        input: &[u8],
        wall: Duration,
        counts: &mut Vec<u8>,
        news: &mut Vec<New>,
        feedback: &mut Feedback,
        runner: &mut Runner<'_>,
    ) -> Result<(Duration, bool), Error> {
        let (begin, doing) = (runner.now(), runner.turn_to(Activity::Calibrate));
        let (mut total, mut varies) = (wall, false);
        let mut runs = 1;
        let mut differing: Vec<u32> = Vec::new();
        for run in 0..RUNS {
            let takes_long = run > 0 && !runner.is_repeatable() && runner.since(begin).0 + wall > TIME;
            if takes_long || runner.is_over() {
                break;
            }
            let Some(seen) = wug_target::Error::unless_ended(runner.run(input))? else { break };
            if seen.verdict == Verdict::Timeout || seen.verdict.is_crash() {
                varies |= seen.verdict.is_crash();
                continue;
            }
            runs += 1;
            total += seen.wall;
            if seen.coverage.len() != counts.len() {
                counts.resize(counts.len().max(seen.coverage.len()), 0);
            }
            let differs = |(at, class): (usize, &u8)| {
                let count = seen.coverage.get(at).copied().unwrap_or(0);
                (coverage::class(count) != *class).then_some(at as u32)
            };
            let flaky: Vec<u32> = counts.iter().enumerate().filter_map(differs).collect();
            varies |= !flaky.is_empty();
            for id in flaky {
                feedback.distrust(id);
                news.retain(|new| new.id != id);
                differing.push(id);
            }
        }
        if runs > 2 {
            feedback.vouch(counts, &differing);
        }
        runner.turn_to(doing);
        Ok((total / runs, varies))
    }
}
