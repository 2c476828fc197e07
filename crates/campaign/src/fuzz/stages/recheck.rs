//! Recheck: new entries are run by another build, one with a sanitizer.
//!
//! In:  an input that is about to be kept.
//! Out: its crash in that build, if it crashes there.
//!
//! Such a build is slow, so it runs only what the fast one keeps: an input
//! that corrupts memory without a crash has almost always reached something
//! new on the way.

use crate::fuzz::Error;
use crate::fuzz::runner::Runner;
use wug_target::{Crash, Executor, Options, SITE_FRAMES, Site, Target};

/// A sanitizer costs time: each execution gets this many times as much.
const SLOWER: u32 = 5;

/// Runs new entries by a build that sees more errors.
#[derive(Debug)]
pub(crate) struct Recheck {
    executor: Executor,
    pub execs: u64,
}

impl Recheck {
    /// Starts the build.
    pub fn new(target: Target, execution: &Options) -> Result<Recheck, Error> {
        let timeout = execution.timeout * SLOWER;
        // Sanitizers reserve more memory than there is, and count for themselves.
        let executor = Executor::new(target, Options { timeout, ..execution.clone() })?;
        Ok(Recheck { executor, execs: 0 })
    }

    /// Runs an input; its crash, if it crashes.
    pub fn run(
        &mut self,
        input: &[u8],
        runner: &mut Runner<'_>,
        is_new: impl Fn(&Site) -> bool,
    ) -> Result<Option<(Site, Crash)>, Error> {
        if runner.is_over() {
            return Ok(None);
        }
        self.executor.set_timeout(runner.timeout() * SLOWER);
        let Some(seen) = wug_target::Error::unless_ended(self.executor.run(input))? else { return Ok(None) };
        let (verdict, wall) = (seen.verdict, seen.wall);
        runner.count(1, wall);
        self.execs += 1;
        if !verdict.is_crash() {
            return Ok(None);
        }
        let mut crash = self.executor.locate_crash(input)?;
        if !crash.verdict.is_crash() {
            crash.verdict = verdict;
        }
        let site = crash.site(SITE_FRAMES);
        if is_new(&site) {
            self.executor.explain(&mut crash);
        }
        Ok(Some((site, crash)))
    }
}
