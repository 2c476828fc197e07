//! Timeouts: hangs and slow finds told apart by a second run.
//!
//! In:  an input that exceeded its time limit.
//! Out: a file, if it exceeds a longer limit as well and reaches new edges; or
//!      how it ended with more time.
//!
//! The time limit is short (`limit`), so an input that exceeds it may be worth
//! keeping: what reached something new by then is run again with more time.
//! That costs a second and more where a run takes a millisecond, so it has a
//! share of the time and no more; beyond, one in ever so many is looked at.

use super::Failed;
use crate::feedback::Feedback;
use crate::fuzz::runner::Runner;
use crate::fuzz::seconds_now;
use crate::fuzz::{Error, Options};
use std::time::Duration;
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_target::Verdict;

/// Second runs may take one in so many seconds, after some to begin with:
/// slow inputs that are worth keeping against time for quick ones.
const SHARE: u32 = 20;
const FREE: u32 = 1;

/// All timeouts of a campaign.
#[derive(Debug)]
pub(crate) struct Timeouts {
    /// Edges that they reached.
    reached: Feedback,
    /// Executions that exceeded their limit.
    pub total: u64,
    /// The time that went into second runs, and into what came of them.
    pub time: Duration,
    /// Hangs that were kept, and Unix time of the last.
    kept: u64,
    last: Option<u64>,
    /// The limit of the second run is at least this.
    least: Duration,
}

/// How an input ended that was given more time.
#[derive(Debug)]
pub(crate) struct Slow {
    pub verdict: Verdict,
    pub wall: Duration,
    /// How often it hit each edge.
    pub counts: Vec<u8>,
}

impl Timeouts {
    pub fn new(options: &Options) -> Timeouts {
        Timeouts {
            reached: Feedback::default(),
            total: 0,
            time: Duration::ZERO,
            kept: 0,
            last: None,
            least: options.hang_timeout.unwrap_or(Duration::from_secs(1)),
        }
    }

    /// An input exceeded its time limit, with `news` after it had reached
    /// something new. What came of it with more time, if it ended.
    pub fn add(
        &mut self,
        failed: &Failed<'_>,
        news: bool,
        runner: &mut Runner<'_>,
        folder: &mut Folder,
    ) -> Result<Option<Slow>, Error> {
        self.total += 1;
        runner.choose_limit();
        // Without coverage, one is as good as another.
        let blind = self.kept == 0 && failed.counts.iter().all(|count| *count == 0);
        let other = self.reached.add(failed.counts).any() || news || blind;
        if !other || runner.is_over() || !self.may_confirm(runner) {
            return Ok(None);
        }
        let limit = runner.patience().max(self.least);
        // By the same executor: another would be forked from this process as
        // it is now, and keep a copy of its memory.
        let begin = runner.now();
        let mut counts = Vec::new();
        let seen = wug_target::Error::unless_ended(runner.run_within(limit, failed.input, &mut counts))?;
        self.time += runner.since(begin).0;
        let Some((verdict, wall)) = seen else { return Ok(None) };
        if verdict != Verdict::Timeout {
            return Ok(Some(Slow { verdict, wall, counts }));
        }
        failed.keep(runner, folder, |folder, input, origin| folder.hang(input, origin))?;
        self.kept += 1;
        self.last = Some(seconds_now());
        Ok(None)
    }

    /// Whether there is time for a second run.
    fn may_confirm(&self, runner: &Runner<'_>) -> bool {
        runner.is_repeatable() || self.time * SHARE <= runner.own_time() + self.least * FREE * SHARE
    }

    /// Fills in what was found.
    pub fn report(&self, report: &mut Report) {
        report.saved_hangs = self.kept;
        report.last_hang = self.last.unwrap_or(report.last_hang);
    }
}
