//! Crashes told apart by where they happen.
//!
//! In:  an input that crashed the target.
//! Out: its bucket; a file, if the bucket keeps it.
//!
//! The stack of a crash takes a process of its own, so it is only looked at
//! where that is worth it: a new edge, or a crash that looks like none before.

use super::Failed;
use super::buckets::Buckets;
use crate::feedback::Feedback;
use crate::fuzz::runner::Runner;
use crate::fuzz::seconds_now;
use crate::fuzz::{Error, Event, Options};
use std::time::Duration;
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_random::hash;
use wug_target::{Crash, Record, SITE_FRAMES, Site, Verdict};

/// Said once where stacks are not to be had.
const UNTRACED: &str = "ptrace is not permitted here, so crashes are told apart by their signal alone: permit it \
    (docker: --cap-add SYS_PTRACE; kernel.yama.ptrace_scope below 3), or use a build with -fsanitize=address";

/// Looks at stacks of crashes that reach nothing new: exact buckets against
/// time for other inputs. The first looks are free, the others may take one in
/// so many seconds, or executions where a campaign is to repeat.
const FREE_LOOKS: u64 = 100;
const LOOK_SHARE: u32 = 10;
const EXECS_PER_LOOK: u64 = 100;
/// The same without coverage, where only stacks tell crashes apart.
const PLAIN_SHARE: u32 = 2;
/// What the first crash of a bucket is worth to the schedule, where an entry
/// with one new edge is worth 1.
const GAIN: f64 = 2.0;

/// All crashes of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Crashes {
    /// Edges that crashes reached.
    reached: Feedback,
    buckets: Buckets,
    /// Looks at stacks, and the time that went into them.
    looks: u64,
    looked: Duration,
    /// Executions that crashed.
    pub total: u64,
    /// Executions and Unix time when the last crash was kept.
    last: (u64, Option<u64>),
    told_untraced: bool,
    plain: bool,
}

impl Crashes {
    pub fn new(options: &Options) -> Crashes {
        Crashes { plain: options.plain, ..Crashes::default() }
    }

    /// An input crashed the target; what that is worth.
    pub fn add(
        &mut self,
        failed: &Failed<'_>,
        verdict: Verdict,
        runner: &mut Runner<'_>,
        folder: &mut Folder,
    ) -> Result<f64, Error> {
        self.total += 1;
        let news = self.reached.add(failed.counts).any();
        let record = runner.executor.record();
        let sight = sight(verdict, &record, failed.counts);
        if !news && !self.buckets.all().is_empty() {
            let met = self.buckets.met(sight).filter(|_| !self.plain);
            if let Some(bucket) = met {
                self.buckets.count(bucket);
                if self.buckets.takes(bucket, failed.counts, false) {
                    self.save(bucket, verdict, failed, runner, folder)?;
                }
            }
            if met.is_some() || !self.may_look(runner) {
                return Ok(0.0);
            }
        }
        let (site, crash) = self.look(failed.input, verdict, record, runner)?;
        let (bucket, gain) = self.keep(site, &crash, news, failed, runner, folder)?;
        self.buckets.remember(sight, bucket);
        Ok(gain)
    }

    /// Whether there is time to look at a crash that reached nothing new.
    fn may_look(&self, runner: &Runner<'_>) -> bool {
        let share = if self.plain { PLAIN_SHARE } else { LOOK_SHARE };
        self.looks < FREE_LOOKS
            || match runner.is_repeatable() {
                true => self.looks - FREE_LOOKS < runner.execs() / EXECS_PER_LOOK,
                false => self.looked * share < runner.elapsed(),
            }
    }

    /// Looks at the stack of a crash.
    fn look(
        &mut self,
        input: &[u8],
        verdict: Verdict,
        record: Record,
        runner: &mut Runner<'_>,
    ) -> Result<(Site, Crash), Error> {
        let begin = runner.now();
        let mut crash = runner.executor.locate_crash(input)?;
        if crash.untraced && !std::mem::replace(&mut self.told_untraced, true) {
            runner.notice(UNTRACED);
        }
        if crash.stack.is_empty() && crash.said.is_none() {
            crash.stack = runner.executor.stack_of(record);
        }
        if !crash.verdict.is_crash() {
            crash.verdict = verdict;
        }
        let site = crash.site(SITE_FRAMES);
        if self.is_new(&site) {
            runner.executor.explain(&mut crash);
        }
        self.looked += runner.since(begin).0;
        self.looks += 1;
        Ok((site, crash))
    }

    /// Whether no crash was at this site.
    pub fn is_new(&self, site: &Site) -> bool {
        self.buckets.is_new(site)
    }

    /// Puts a crash into its bucket; keeps its input if it is the first there,
    /// or one of few with different edges. The bucket, and what that is worth.
    pub fn keep(
        &mut self,
        site: Site,
        crash: &Crash,
        news: bool,
        failed: &Failed<'_>,
        runner: &mut Runner<'_>,
        folder: &mut Folder,
    ) -> Result<(usize, f64), Error> {
        let (bucket, first) = self.buckets.place(site, crash);
        runner.crashed();
        if !first && !self.buckets.takes(bucket, failed.counts, news) {
            return Ok((bucket, 0.0));
        }
        self.save(bucket, crash.verdict, failed, runner, folder)?;
        if first {
            runner.tell(Event::Crash(&self.buckets.all()[bucket]));
        }
        Ok((bucket, if first { GAIN } else { 0.0 }))
    }

    /// Keeps an input as one of a bucket.
    fn save(
        &mut self,
        bucket: usize,
        verdict: Verdict,
        failed: &Failed<'_>,
        runner: &mut Runner<'_>,
        folder: &mut Folder,
    ) -> Result<(), Error> {
        let signal = match verdict {
            Verdict::Signal(signal) => signal as u8,
            _ => 0,
        };
        let path =
            failed.keep(runner, folder, |folder, input, origin| folder.crash(input, signal, origin))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.buckets.keep(bucket, failed.counts, signal, file);
        self.last = (runner.execs(), Some(seconds_now()));
        Ok(())
    }

    /// Fills in what was found.
    pub fn report(&self, runner: &Runner<'_>, report: &mut Report) {
        let (execs, seconds) = self.last;
        report.saved_crashes = self.buckets.kept();
        report.crashes = self.buckets.all().to_vec();
        report.execs_since_crash = runner.execs().saturating_sub(execs);
        report.last_crash = seconds.unwrap_or(report.last_crash);
    }
}

/// A number for what is seen of a crash without a look at its stack: signal,
/// and where the runtime saw it. Aborts are often called by one function of a
/// library for many reasons, so there edges count as well, as they do where
/// the runtime saw nothing.
fn sight(verdict: Verdict, record: &Record, counts: &[u8]) -> u64 {
    let place = record.key();
    let edges = (place.is_none() || verdict == Verdict::Signal(libc::SIGABRT)).then(|| hash(counts));
    hash(format!("{verdict} {place:?} {edges:?}").as_bytes())
}
