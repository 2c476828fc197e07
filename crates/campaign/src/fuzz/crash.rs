//! Crashes told apart by where they happen, hangs by a second run.

use super::buckets::Buckets;
use super::execute::Making;
use super::{Campaign, Error, Event};
use crate::feedback::Feedback;
use std::time::{Duration, Instant};
use wug_random::hash;
use wug_target::{Crash, Record, SITE_FRAMES, Site, Verdict};

/// What crashes and hangs have reached, and where crashes were.
#[derive(Debug, Default)]
pub(super) struct Crashes {
    reached: Feedback,
    pub buckets: Buckets,
    /// Looks at where crashes were, and the time that went into them.
    looks: u64,
    looked: Duration,
    slow: Feedback,
    /// Runs that crashed.
    pub total: u64,
    /// Runs that took too long.
    pub timeouts: u64,
    /// The time that went into them, and how many there were since the limit
    /// was changed.
    waited: Duration,
    lately: u32,
    /// Hangs that were kept.
    pub hangs: u64,
    /// Executions when the last crash was kept.
    pub last: u64,
    /// Whether it was told that nothing can be traced.
    told_untraced: bool,
}

impl Crashes {
    pub fn is_empty(&self) -> bool {
        self.buckets.all().is_empty()
    }
}

/// Said once where stacks are not to be had.
const UNTRACED: &str = "ptrace is not permitted here, so crashes are told apart by their signal alone: permit it \
    (docker: --cap-add SYS_PTRACE; kernel.yama.ptrace_scope below 3), or use a build with -fsanitize=address";

/// An input that takes too long gets this many times its limit, and no less
/// than a second, before it counts as a hang.
const PATIENCE: u32 = 5;
/// Inputs that take too long may cost one in so many seconds; beyond, when
/// there were a few, the limit is halved, down to so many times what the
/// slowest entry takes, and no less than this.
const SHARE: u32 = 10;
/// Looks at crashes that reach nothing new: the first are free, the others may
/// take one in so many seconds, or executions where a campaign is to repeat.
const FREE_LOOKS: u64 = 100;
const LOOK_SHARE: u32 = 10;
const EXECS_PER_LOOK: u64 = 100;
/// The same where nothing is told of what runs reach.
const PLAIN_SHARE: u32 = 2;
const FEW: u32 = 3;
const MARGIN: u32 = 20;
const LEAST: Duration = Duration::from_millis(100);

impl Campaign<'_> {
    /// `input` crashed the target.
    pub(super) fn crashed(&mut self, verdict: Verdict, making: &Making) -> Result<f64, Error> {
        self.crashes.total += 1;
        simplify(&mut self.counts);
        let news = self.crashes.reached.add(&self.counts).any();
        let record = self.executor.record();
        let sight = sight(verdict, &record, &self.counts);
        // A look at the stack takes a process of its own, so it has to be
        // worth that: a new edge, or a place that was not seen before.
        if !news && !self.crashes.is_empty() {
            let met = self.crashes.buckets.met(sight).filter(|_| !self.options.plain);
            if let Some(bucket) = met {
                self.crashes.buckets.count(bucket);
                if self.crashes.buckets.takes(bucket, &self.counts, false) {
                    self.save_crash(bucket, verdict, making)?;
                }
            }
            if met.is_some() || !self.may_look() {
                return Ok(0.0);
            }
        }
        let begin = Instant::now();
        let mut crash = self.executor.locate_crash(&self.input)?;
        if crash.untraced && !std::mem::replace(&mut self.crashes.told_untraced, true) {
            self.watch.event(Event::Notice(UNTRACED.into()));
        }
        if crash.stack.is_empty() && crash.said.is_none() {
            crash.stack = self.executor.stack_of(record);
        }
        if !crash.verdict.is_crash() {
            crash.verdict = verdict;
        }
        let site = crash.site(SITE_FRAMES);
        if self.crashes.buckets.is_new(&site) {
            self.executor.explain(&mut crash);
        }
        self.crashes.looked += begin.elapsed();
        self.crashes.looks += 1;
        let (bucket, gain) = self.keep_crash(site, &crash, news, making)?;
        self.crashes.buckets.remember(sight, bucket);
        Ok(gain)
    }

    /// Whether there is time for a look at a crash that reached nothing new.
    fn may_look(&self) -> bool {
        let Crashes { looks, looked, .. } = self.crashes;
        let share = if self.options.plain { PLAIN_SHARE } else { LOOK_SHARE };
        looks < FREE_LOOKS
            || match self.options.repeatable {
                true => looks - FREE_LOOKS < self.figures.execs / EXECS_PER_LOOK,
                false => looked * share < self.figures.elapsed(),
            }
    }

    /// Puts `input` into its bucket; keeps it if it is the first there, or
    /// one of few with different edges. The bucket, and what that is worth.
    pub(super) fn keep_crash(
        &mut self,
        site: Site,
        crash: &Crash,
        news: bool,
        making: &Making,
    ) -> Result<(usize, f64), Error> {
        let (bucket, first) = self.crashes.buckets.place(site, crash);
        if !first && !self.crashes.buckets.takes(bucket, &self.counts, news) {
            return Ok((bucket, 0.0));
        }
        self.save_crash(bucket, crash.verdict, making)?;
        if first {
            self.watch.event(Event::Crash(&self.crashes.buckets.all()[bucket]));
        }
        Ok((bucket, if first { 2.0 } else { 0.0 }))
    }

    /// Keeps `input` as one of a bucket.
    fn save_crash(&mut self, bucket: usize, verdict: Verdict, making: &Making) -> Result<(), Error> {
        let signal = match verdict {
            Verdict::Signal(signal) => signal as u8,
            _ => 0,
        };
        let origin = self.origin(making, true);
        let input = std::mem::take(&mut self.input);
        let kept = self.insist(|folder| folder.crash(&input, signal, &origin));
        self.input = input;
        let file = kept?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.crashes.buckets.keep(bucket, &self.counts, signal, file);
        self.crashes.last = self.figures.execs;
        self.figures.report.last_crash = super::figures::seconds_now();
        Ok(())
    }

    /// `input` took too long.
    pub(super) fn hung(&mut self, making: &Making) -> Result<f64, Error> {
        self.crashes.timeouts += 1;
        self.crashes.waited += self.execution.timeout;
        self.crashes.lately += 1;
        self.shorten_limit();
        simplify(&mut self.counts);
        if !self.crashes.slow.add(&self.counts).any() && self.crashes.hangs > 0 {
            return Ok(0.0);
        }
        // By the same executor: another would be forked from this process as
        // it is now, and keep a copy of its memory.
        if self.is_over() {
            return Ok(0.0);
        }
        self.executor.set_timeout(self.patience());
        let verdict = self.executor.run(&self.input).map(|seen| seen.verdict);
        self.executor.set_timeout(self.execution.timeout);
        let Some(verdict) = wug_target::Error::unless_ended(verdict)? else { return Ok(0.0) };
        self.figures.execs += 1;
        if verdict != Verdict::Timeout {
            return Ok(0.0);
        }
        let origin = self.origin(making, true);
        let input = std::mem::take(&mut self.input);
        let kept = self.insist(|folder| folder.hang(&input, &origin));
        self.input = input;
        kept?;
        self.crashes.hangs += 1;
        self.figures.report.last_hang = super::figures::seconds_now();
        Ok(0.0)
    }

    /// Gives each run less time where hangs take much of it.
    fn shorten_limit(&mut self) {
        let Crashes { waited, lately, .. } = self.crashes;
        let (limit, fixed) = (self.execution.timeout, self.options.fixed_timeout || self.options.repeatable);
        if fixed || lately < FEW || waited * SHARE < self.figures.elapsed() {
            return;
        }
        let less = (limit / 2).max(self.corpus.turns.slowest() * MARGIN).max(LEAST);
        if less >= limit {
            return;
        }
        self.crashes.lately = 0;
        self.execution.timeout = less;
        self.executor.set_timeout(less);
        self.figures.report.exec_timeout = less.as_millis() as u64;
        self.watch.event(Event::Notice(format!(
            "inputs that take too long take much of the time: each run has {} ms from now on, not {}; -t MS sets a limit that stays",
            less.as_millis(),
            limit.as_millis()
        )));
    }

    fn patience(&self) -> Duration {
        let least = self.options.hang_timeout.unwrap_or(Duration::from_secs(1));
        (self.execution.timeout * PATIENCE).max(least)
    }
}

/// Leaves only whether an id was hit.
fn simplify(counts: &mut [u8]) {
    counts.iter_mut().for_each(|count| *count = u8::from(*count != 0));
}

/// A number for what is seen of a crash without a further look: signal, and
/// where the runtime saw it. Aborts are often called by one function of a
/// library for many reasons, so there edges count as well, as they do where
/// the runtime saw nothing.
fn sight(verdict: Verdict, record: &Record, counts: &[u8]) -> u64 {
    let place = record.key();
    let edges = (place.is_none() || verdict == Verdict::Signal(libc::SIGABRT)).then(|| hash(counts));
    hash(format!("{verdict} {place:?} {edges:?}").as_bytes())
}
