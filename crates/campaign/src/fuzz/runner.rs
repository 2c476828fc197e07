//! The runner: executes inputs, counts executions, knows when to end.
//!
//! In:  inputs.
//! Out: observations; the cost of runs in the schedule's unit.
//!
//! Stages and mutators that execute the target do so here, and ask
//! [`Runner::is_over`] before every execution.

use super::{Error, Event, Options, Watch};
use std::time::{Duration, Instant};
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_target::{Batch, End, Executor, Observation};

/// How long to wait for room on a full disk.
const PAUSE: Duration = Duration::from_millis(500);
/// More than any campaign has: what an old report says beyond is not believed.
const MOST_SECONDS: u64 = 1 << 40;
const MOST_EXECS: u64 = 1 << 60;

/// Executes inputs for a campaign.
pub(crate) struct Runner<'a> {
    pub executor: Executor,
    watch: &'a mut dyn Watch,
    end: End,
    timeout: Duration,
    limits: Limits,
    repeatable: bool,
    begin: Point,
    /// Time of earlier runs of this campaign.
    earlier: Duration,
    execs: u64,
    stopped: bool,
}

/// When a campaign ends by itself.
#[derive(Debug)]
struct Limits {
    max_execs: Option<u64>,
    until_crash: bool,
    crashed: bool,
}

/// A point in time, by the clock and by executions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    time: Instant,
    execs: u64,
}

impl<'a> Runner<'a> {
    /// A runner that counts on from an earlier report.
    pub fn new(
        executor: Executor,
        execution: &wug_target::Options,
        options: &Options,
        previous: Option<&Report>,
        watch: &'a mut dyn Watch,
    ) -> Runner<'a> {
        // Bounded where they come in, so that nothing that is added to them or
        // made of them can overflow.
        let seconds = previous.map_or(0, |previous| previous.run_time.min(MOST_SECONDS));
        let execs = previous.map_or(0, |previous| previous.execs_done.min(MOST_EXECS));
        Runner {
            executor,
            watch,
            end: execution.end.clone(),
            timeout: execution.timeout,
            limits: Limits { max_execs: options.max_execs, until_crash: options.until_crash, crashed: false },
            repeatable: options.repeatable,
            begin: Point { time: Instant::now(), execs },
            earlier: Duration::from_secs(seconds),
            execs,
            stopped: false,
        }
    }

    /// Executes an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, wug_target::Error> {
        let seen = self.executor.run(input)?;
        self.execs += 1;
        Ok(seen)
    }

    /// Executes inputs of a batch from one on, up to the first whose coverage
    /// is not in `seen` or that fails; its place.
    pub fn run_batch(
        &mut self,
        batch: &Batch,
        from: usize,
        seen: &[u8],
    ) -> Result<(usize, Observation<'_>), wug_target::Error> {
        let (place, observation) = self.executor.run_batch(batch, from, seen)?;
        self.execs += (place + 1 - from) as u64;
        Ok((place, observation))
    }

    /// Executes an input once with another time limit.
    pub fn run_within(
        &mut self,
        limit: Duration,
        input: &[u8],
    ) -> Result<wug_target::Verdict, wug_target::Error> {
        self.executor.set_timeout(limit);
        let verdict = self.run(input).map(|seen| seen.verdict);
        self.executor.set_timeout(self.timeout);
        verdict
    }

    /// Counts executions of another executor.
    pub fn count(&mut self, execs: u64) {
        self.execs += execs;
    }

    /// Executions, those of earlier runs included.
    pub fn execs(&self) -> u64 {
        self.execs
    }

    /// Executions that are left.
    pub fn left(&self) -> u64 {
        self.limits.max_execs.map_or(u64::MAX, |most| most.saturating_sub(self.own_execs()))
    }

    /// Executions of this run alone.
    pub fn own_execs(&self) -> u64 {
        self.execs.saturating_sub(self.begin.execs)
    }

    /// Time of this run alone.
    pub fn own_time(&self) -> Duration {
        self.begin.time.elapsed()
    }

    /// Time of the campaign, earlier runs included.
    pub fn elapsed(&self) -> Duration {
        self.earlier.saturating_add(self.own_time())
    }

    /// Whether the campaign is to end.
    pub fn is_over(&mut self) -> bool {
        if !self.stopped {
            let Limits { until_crash, crashed, .. } = self.limits;
            self.stopped =
                self.watch.stops() || self.end.has_come() || self.left() == 0 || until_crash && crashed;
        }
        self.stopped
    }

    /// Whether the end has been noticed.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Leaves a stage, by an error that is none, when the campaign is to end.
    pub fn unless_over(&mut self) -> Result<(), Error> {
        if self.is_over() { Err(wug_target::Error::Ended.into()) } else { Ok(()) }
    }

    /// A crash was found.
    pub fn crashed(&mut self) {
        self.limits.crashed = true;
    }

    /// Whether the same seed is to give the same campaign.
    pub fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// Now.
    pub fn now(&self) -> Point {
        Point { time: Instant::now(), execs: self.execs }
    }

    /// Time and executions since a point.
    pub fn since(&self, point: Point) -> (Duration, u64) {
        (point.time.elapsed(), self.execs - point.execs)
    }

    /// The cost of all since a point: executions, or microseconds.
    pub fn cost_since(&self, point: Point) -> f64 {
        let (time, execs) = self.since(point);
        if self.repeatable { execs as f64 } else { time.as_secs_f64() * 1e6 }
    }

    /// The cost of one execution, in the same unit.
    pub fn cost(&self, wall: Duration) -> f64 {
        if self.repeatable { 1.0 } else { wall.as_secs_f64() * 1e6 }
    }

    /// The time limit of an execution.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Changes the time limit.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
        self.executor.set_timeout(timeout);
    }

    /// Tells the observer.
    pub fn tell(&mut self, event: Event<'_>) {
        self.watch.event(event);
    }

    /// Tells the observer something that a person should know.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.watch.event(Event::Notice(text.into()));
    }

    /// Tells the observer where the target's fork server starts, if that is not
    /// before `main`, or why it is.
    pub fn tell_fork_point(&mut self) {
        let point = self.executor.fork_point();
        if *point != wug_target::ForkPoint::Main {
            let line = point.to_string();
            self.notice(line);
        }
    }

    /// Writes to the folder; again, if the disk is full, until there is room
    /// or the campaign is to end.
    pub fn insist<T>(
        &mut self,
        folder: &mut Folder,
        act: impl FnMut(&mut Folder) -> Result<T, wug_folder::Error>,
    ) -> Result<T, Error> {
        Ok(insist(folder, self.watch, &self.end, act)?)
    }

    /// Fills in what is counted here.
    pub fn report(&self, report: &mut Report) {
        let own = self.own_time().as_secs_f64();
        report.run_time = self.elapsed().as_secs();
        report.execs_done = self.execs;
        report.execs_per_sec = self.own_execs() as f64 / own.max(1e-6);
        report.exec_timeout = self.timeout.as_millis() as u64;
        report.total_edges = self.executor.ids() as u64;
    }
}

/// Writes to a folder; again, if the disk is full, until there is room, the
/// observer wants an end, or the end has come.
pub(crate) fn insist<T>(
    folder: &mut Folder,
    watch: &mut dyn Watch,
    end: &End,
    mut act: impl FnMut(&mut Folder) -> Result<T, wug_folder::Error>,
) -> Result<T, wug_folder::Error> {
    let mut told = false;
    loop {
        match act(folder) {
            Err(error) if error.is_full() && !watch.stops() && !end.has_come() => {
                if !told {
                    watch.event(Event::Paused(&error));
                    told = true;
                }
                end.sleep(PAUSE);
            }
            done => {
                if told && done.is_ok() {
                    watch.event(Event::Notice("there is room on the disk again".into()));
                }
                return done;
            }
        }
    }
}
