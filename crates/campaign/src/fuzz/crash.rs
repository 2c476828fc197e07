//! Crashes told apart by where they happen, hangs by a second run.

use super::execute::Making;
use super::{Campaign, Error, Event};
use crate::executor::{Crash, Verdict};
use crate::feedback::Feedback;
use crate::hash::hash;
use crate::report::CrashReport;
use std::time::Duration;

/// What crashes and hangs have reached, and where crashes were.
#[derive(Debug, Default)]
pub(super) struct Crashes {
    reached: Feedback,
    places: Vec<CrashReport>,
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
}

impl Crashes {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn places(&self) -> &[CrashReport] {
        &self.places
    }
}

/// Functions that tell one crash from another.
const FRAMES: usize = 4;
/// An input that takes too long gets this many times its limit, and no less
/// than a second, before it counts as a hang.
const PATIENCE: u32 = 5;
/// Inputs that take too long may cost one in so many seconds; beyond, when
/// there were a few, the limit is halved, down to so many times what the
/// slowest entry takes, and no less than this.
const SHARE: u32 = 10;
const FEW: u32 = 3;
const MARGIN: u32 = 20;
const LEAST: Duration = Duration::from_millis(100);

impl Campaign<'_> {
    /// `input` crashed the target.
    pub(super) fn crashed(&mut self, verdict: Verdict, making: &Making) -> Result<f64, Error> {
        self.crashes.total += 1;
        simplify(&mut self.counts);
        // A look at the stack is slow: only if it reached an edge that no
        // crash has reached. The first of all has nothing to be compared with.
        let news = self.crashes.reached.add(&self.counts).any();
        if !news && !self.crashes.is_empty() && !self.options.plain {
            return Ok(0.0);
        }
        let crash = self.executor.examine(&self.input)?;
        self.keep_crash(&crash, verdict, making)
    }

    /// Keeps `input` if no crash was at its place before.
    pub(super) fn keep_crash(
        &mut self,
        crash: &Crash,
        verdict: Verdict,
        making: &Making,
    ) -> Result<f64, Error> {
        let verdict = if crash.verdict.is_crash() { crash.verdict } else { verdict };
        let stack = place_of(crash, verdict);
        if let Some(known) = self.crashes.places.iter_mut().find(|known| known.stack == stack) {
            known.count += 1;
            return Ok(0.0);
        }
        let signal = match verdict {
            Verdict::Signal(signal) => signal as u8,
            _ => 0,
        };
        let origin = self.origin(making, true);
        let input = std::mem::take(&mut self.input);
        let kept = self.insist(|folder| folder.crash(&input, signal, &origin));
        self.input = input;
        let file = kept?;
        let place = crash.site(FRAMES).join(" < ");
        let report = CrashReport {
            stack,
            signal,
            count: 1,
            file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            place: match (&crash.summary, place.as_str()) {
                (Some(summary), _) => summary.clone(),
                (None, "") => verdict.to_string(),
                (None, place) => format!("{verdict} in {place}"),
            },
        };
        self.watch.event(Event::Crash(&report));
        self.crashes.places.push(report);
        self.crashes.last = self.figures.execs;
        self.figures.report.last_crash = super::figures::seconds_now();
        Ok(2.0)
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
        self.executor.set_timeout(self.patience());
        let verdict = self.executor.run(&self.input).map(|seen| seen.verdict);
        self.executor.set_timeout(self.execution.timeout);
        let verdict = verdict?;
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

/// A number for where a crash happened: its innermost functions.
fn place_of(crash: &Crash, verdict: Verdict) -> u64 {
    let mut words = crash.site(FRAMES);
    words.push(verdict.to_string());
    hash(words.join("\n").as_bytes())
}
