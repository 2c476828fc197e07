//! Calibration: edges that differ from run to run of one input are found by
//! running it again.
//!
//! In:  an input with new coverage.
//! Out: what of that coverage is sure; the mean time of an execution.

use crate::feedback::{Feedback, New};
use crate::fuzz::Error;
use crate::fuzz::runner::Runner;
use std::time::{Duration, Instant};
use wug_target::coverage;

/// Executions of a new entry besides the first: flaky edges found early
/// against time.
const RUNS: usize = 3;

/// Runs new entries again.
#[derive(Debug, Default)]
pub(crate) struct Calibrate {
    pub time: Duration,
}

impl Calibrate {
    /// Runs an input some more times, and removes what differs from `news`: it
    /// is never news again. The mean time of a run, and whether runs differ.
    pub fn run(
        &mut self,
        input: &[u8],
        wall: Duration,
        counts: &mut Vec<u8>,
        news: &mut Vec<New>,
        feedback: &mut Feedback,
        runner: &mut Runner<'_>,
    ) -> Result<(Duration, bool), Error> {
        let begin = Instant::now();
        let (mut total, mut varies) = (wall, false);
        let mut runs = 1;
        for _ in 0..RUNS {
            if runner.is_over() {
                break;
            }
            let Some(seen) = wug_target::Error::unless_ended(runner.run(input))? else { break };
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
            }
        }
        self.time += begin.elapsed();
        Ok((total / runs, varies))
    }
}
