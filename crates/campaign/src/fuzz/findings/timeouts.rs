//! Timeouts: hangs told from slow inputs by a second run.
//!
//! In:  an input that exceeded its time limit.
//! Out: a file, if it exceeds a longer limit as well and reaches new edges; a
//!      shorter limit, where timeouts take much of the time.

use super::Failed;
use crate::feedback::Feedback;
use crate::fuzz::runner::Runner;
use crate::fuzz::seconds_now;
use crate::fuzz::{Error, Options};
use std::time::Duration;
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_target::Verdict;

/// An input is run again with so many times its limit, and no less than a
/// second, before it counts as a hang: false hangs against time.
const PATIENCE: u32 = 5;
/// Timeouts may cost one in so many seconds; beyond, when there were a few, the
/// limit is halved: more executions against inputs that are slow and end. It
/// stays above so many times what the slowest entry takes, and above this.
const SHARE: u32 = 10;
const FEW: u32 = 3;
const MARGIN: u32 = 20;
const LEAST: Duration = Duration::from_millis(100);

/// All timeouts of a campaign.
#[derive(Debug)]
pub(crate) struct Timeouts {
    /// Edges that they reached.
    reached: Feedback,
    /// Executions that exceeded their limit.
    pub total: u64,
    /// The time that went into them, and how many there were since the limit
    /// was changed.
    waited: Duration,
    lately: u32,
    /// Hangs that were kept, and Unix time of the last.
    kept: u64,
    last: Option<u64>,
    /// The limit of the second run is at least this.
    least: Duration,
    /// Whether the limit stays as it is.
    fixed: bool,
}

impl Timeouts {
    pub fn new(options: &Options) -> Timeouts {
        Timeouts {
            reached: Feedback::default(),
            total: 0,
            waited: Duration::ZERO,
            lately: 0,
            kept: 0,
            last: None,
            least: options.hang_timeout.unwrap_or(Duration::from_secs(1)),
            fixed: options.fixed_timeout || options.repeatable,
        }
    }

    /// An input exceeded its time limit.
    pub fn add(
        &mut self,
        failed: &Failed<'_>,
        runner: &mut Runner<'_>,
        folder: &mut Folder,
    ) -> Result<(), Error> {
        self.total += 1;
        self.waited += runner.timeout();
        self.lately += 1;
        self.shorten_limit(failed, runner);
        if !self.reached.add(failed.counts).any() && self.kept > 0 {
            return Ok(());
        }
        // By the same executor: another would be forked from this process as
        // it is now, and keep a copy of its memory.
        if runner.is_over() {
            return Ok(());
        }
        let limit = (runner.timeout() * PATIENCE).max(self.least);
        let verdict = runner.run_within(limit, failed.input);
        if wug_target::Error::unless_ended(verdict)? != Some(Verdict::Timeout) {
            return Ok(());
        }
        failed.keep(runner, folder, |folder, input, origin| folder.hang(input, origin))?;
        self.kept += 1;
        self.last = Some(seconds_now());
        Ok(())
    }

    /// Gives each execution less time where timeouts take much of it.
    fn shorten_limit(&mut self, failed: &Failed<'_>, runner: &mut Runner<'_>) {
        if self.fixed || self.lately < FEW || self.waited * SHARE < runner.elapsed() {
            return;
        }
        let limit = runner.timeout();
        let less = (limit / 2).max(failed.corpus.turns.slowest() * MARGIN).max(LEAST);
        if less >= limit {
            return;
        }
        self.lately = 0;
        runner.set_timeout(less);
        runner.notice(format!(
            "inputs that take too long take much of the time: each run has {} ms from now on, not {}; -t MS sets a limit that stays",
            less.as_millis(),
            limit.as_millis()
        ));
    }

    /// Fills in what was found.
    pub fn report(&self, report: &mut Report) {
        report.saved_hangs = self.kept;
        report.last_hang = self.last.unwrap_or(report.last_hang);
    }
}
