//! Finds run by another build, which may see more: one with a sanitizer.
//!
//! Such a build is slow, so it runs only what the fast one keeps: an input
//! that corrupts memory without a crash has almost always reached something
//! new on the way. What crashes there is a crash of the campaign.

use super::execute::Making;
use super::{Campaign, Error};
use wug_target::{Executor, Options, SITE_FRAMES, Target};

/// A sanitizer costs time: each run gets this many times as much.
const SLOWER: u32 = 5;

/// Starts the build that sees more.
pub(super) fn start(target: Target, execution: &Options) -> Result<Executor, Error> {
    let timeout = execution.timeout * SLOWER;
    // Sanitizers reserve more memory than there is, and count for themselves.
    Ok(Executor::new(target, Options { timeout, ..execution.clone() })?)
}

impl Campaign<'_> {
    /// Runs `input`, which is about to be kept, by the build that sees more:
    /// before it is trimmed to what the fast build sees.
    pub(super) fn recheck(&mut self, making: &Making) -> Result<(), Error> {
        if self.is_over() {
            return Ok(());
        }
        let Some(checked) = &mut self.checked else { return Ok(()) };
        let Some(seen) = wug_target::Error::unless_ended(checked.run(&self.input))? else { return Ok(()) };
        let verdict = seen.verdict;
        self.figures.execs += 1;
        self.figures.report.rechecked += 1;
        if !verdict.is_crash() {
            return Ok(());
        }
        let mut crash = checked.locate_crash(&self.input)?;
        if !crash.verdict.is_crash() {
            crash.verdict = verdict;
        }
        let site = crash.site(SITE_FRAMES);
        if self.crashes.buckets.is_new(&site) {
            checked.explain(&mut crash);
        }
        self.crashes.total += 1;
        // What is checked has reached something new.
        self.keep_crash(site, &crash, true, making)?;
        Ok(())
    }
}
