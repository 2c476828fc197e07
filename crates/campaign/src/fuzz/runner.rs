//! The runner: executes inputs, counts executions, knows when to end.
//!
//! In:  inputs.
//! Out: observations; the cost of runs in the schedule's unit.
//!
//! Stages and mutators that execute the target do so here, and ask
//! [`Runner::is_over`] before every execution.

use super::ledger::{Activity, Ledger};
use super::limit::TimeLimit;
use super::{Clock, Error, Event, Options, Watch};
use std::time::Duration;
use wug_folder::Folder;
use wug_folder::report::Report;
use wug_target::{Batch, End, Executor, Observation, Verdict};

/// How long to wait for room on a full disk.
const PAUSE: Duration = Duration::from_millis(500);
/// The time limit of runs whose time is counted, not measured.
const UNCOUNTED: Duration = Duration::from_secs(600);
/// More than any campaign has: what an old report says beyond is not believed.
const MOST_SECONDS: u64 = 1 << 40;
const MOST_EXECS: u64 = 1 << 60;

/// Executes inputs for a campaign.
pub(crate) struct Runner<'a> {
    pub executor: Executor,
    watch: &'a mut dyn Watch,
    end: End,
    clock: Clock,
    pub ledger: Ledger,
    limit: TimeLimit,
    /// CPU time of the target, where it is measured.
    target_cpu: Duration,
    /// What is run now takes longer than others, and has this limit.
    room: Option<Duration>,
    /// What is run tells nothing of how long runs take.
    aside: bool,
    /// The limit of a run as the executor has it.
    timeout: Duration,
    limits: Limits,
    repeatable: bool,
    begin: Point,
    /// Time of earlier runs of this campaign.
    earlier: Duration,
    execs: u64,
    /// What all finds were worth.
    gain: f64,
    stopped: bool,
}

/// When a campaign ends by itself.
#[derive(Debug)]
struct Limits {
    max_execs: Option<u64>,
    /// By a clock that counts; else the end has it.
    max_time: Option<Duration>,
    until_crash: bool,
    crashed: bool,
}

/// A point in time, by the clock and by executions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    time: Duration,
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
        let mut clock = options.clock.clone();
        clock.start();
        let mut executor = executor;
        if clock.is_counted() {
            // What a run takes is counted, however long it has to wait.
            executor.set_timeout(UNCOUNTED);
        }
        let max_time = options.max_time.filter(|_| clock.is_counted());
        Runner {
            executor,
            watch,
            end: execution.end.clone(),
            limit: TimeLimit::new(execution.timeout, options.fixed_timeout || options.repeatable),
            room: None,
            aside: false,
            timeout: execution.timeout,
            limits: Limits {
                max_execs: options.max_execs,
                max_time,
                until_crash: options.until_crash,
                crashed: false,
            },
            repeatable: options.repeatable,
            begin: Point { time: clock.now(), execs },
            ledger: Ledger::new(clock.now()),
            target_cpu: Duration::ZERO,
            clock,
            earlier: Duration::from_secs(seconds),
            execs,
            gain: 0.0,
            stopped: false,
        }
    }

    /// Executes an input.
    pub fn run(&mut self, input: &[u8]) -> Result<Observation<'_>, wug_target::Error> {
        let mut seen = self.executor.run(input)?;
        self.execs += 1;
        if let Some((wall, cut_off)) = self.clock.count(input, self.timeout) {
            seen.wall = wall;
            if cut_off {
                seen.verdict = Verdict::Timeout;
                seen.coverage = &seen.coverage[..seen.coverage.len() / 4 * 3];
            }
        }
        self.ledger.ran(1, seen.wall);
        self.target_cpu += seen.cpu.unwrap_or_default();
        if !self.aside {
            self.limit.ran(seen.wall, 1, seen.verdict == Verdict::Timeout);
        }
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
        let runs = (place + 1 - from) as u32;
        self.ledger.ran(runs.into(), observation.wall * runs);
        self.target_cpu += observation.cpu.unwrap_or_default() * runs;
        let cut_off = observation.verdict == Verdict::Timeout;
        self.limit.ran(observation.wall, if cut_off { 1 } else { place + 1 - from }, cut_off);
        Ok((place, observation))
    }

    /// Executes an input once with another time limit; what it hit is copied.
    pub fn run_within(
        &mut self,
        limit: Duration,
        input: &[u8],
        counts: &mut Vec<u8>,
    ) -> Result<(Verdict, Duration), wug_target::Error> {
        let before = self.timeout;
        self.give(limit);
        self.aside = true;
        let seen = self.run(input).map(|seen| {
            counts.clear();
            counts.extend_from_slice(seen.coverage);
            (seen.verdict, seen.wall)
        });
        self.aside = false;
        self.give(before);
        seen
    }

    /// Gives runs the time that an input needs which takes so long; what was
    /// given before, to be given back.
    pub fn make_room(&mut self, wall: Duration) -> Option<Duration> {
        let before = self.room.replace(self.limit.room_for(wall));
        self.refresh();
        before
    }

    /// Gives runs the time that they had before.
    pub fn give_back(&mut self, before: Option<Duration>) {
        self.room = before;
        self.refresh();
    }

    /// Chooses the time limit anew, by what was found and what it cost.
    pub fn choose_limit(&mut self) {
        if self.limit.choose() {
            self.refresh();
        }
    }

    /// What the time limit is chosen by.
    pub fn limit(&mut self) -> &mut TimeLimit {
        &mut self.limit
    }

    fn refresh(&mut self) {
        self.give(self.limit.get().max(self.room.unwrap_or_default()));
    }

    fn give(&mut self, timeout: Duration) {
        if self.timeout != timeout {
            self.timeout = timeout;
            if !self.clock.is_counted() {
                self.executor.set_timeout(timeout);
            }
        }
    }

    /// Something was found by a run that took so long.
    pub fn found(&mut self, wall: Duration, gain: f64) {
        self.gain += gain;
        self.limit.found(wall, gain);
    }

    /// What all finds were worth.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// The time of an activity.
    pub fn time_of(&self, activity: Activity) -> Duration {
        self.ledger.time_until(activity, self.clock.now())
    }

    /// The time that a run has which is made to tell hangs from slow inputs.
    pub fn patience(&self) -> Duration {
        self.limit.patience()
    }

    /// Counts executions of another executor, which took so long.
    pub fn count(&mut self, execs: u64, time: Duration) {
        self.execs += execs;
        self.ledger.ran(execs, time);
    }

    /// From now on the campaign is doing something else; what it did before.
    pub fn turn_to(&mut self, activity: Activity) -> Activity {
        self.ledger.turn_to(activity, self.clock.now())
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
        self.clock.now().saturating_sub(self.begin.time)
    }

    /// Time of the campaign, earlier runs included.
    pub fn elapsed(&self) -> Duration {
        self.earlier.saturating_add(self.own_time())
    }

    /// Whether the campaign is to end.
    pub fn is_over(&mut self) -> bool {
        if !self.stopped {
            let Limits { until_crash, crashed, max_time, .. } = self.limits;
            self.stopped = self.watch.stops()
                || self.end.has_come()
                || self.left() == 0
                || until_crash && crashed
                || max_time.is_some_and(|most| self.own_time() >= most);
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
        Point { time: self.clock.now(), execs: self.execs }
    }

    /// Time and executions since a point.
    pub fn since(&self, point: Point) -> (Duration, u64) {
        (self.clock.now().saturating_sub(point.time), self.execs - point.execs)
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

    /// Whether inputs can be run together.
    pub fn takes_batches(&self) -> bool {
        !self.clock.is_counted()
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
    pub fn report(&mut self, report: &mut Report) {
        let own = self.own_time().as_secs_f64();
        report.activities = self.ledger.report(self.clock.now());
        let seconds = |activity| self.ledger.time(activity).as_secs();
        report.fuzz_time = seconds(Activity::Mutate);
        report.calibration_time = seconds(Activity::Calibrate);
        report.cmplog_time = seconds(Activity::Trace);
        report.trim_time = seconds(Activity::Trim);
        report.sync_time = seconds(Activity::Sync);
        report.cpu_own_seconds = own_cpu().as_secs_f64();
        report.cpu_target_seconds = self.target_cpu.as_secs_f64();
        report.execs_earlier = self.begin.execs;
        report.run_time = self.elapsed().as_secs();
        report.execs_done = self.execs;
        report.execs_per_sec = self.own_execs() as f64 / own.max(1e-6);
        report.exec_timeout = self.limit.get().as_millis() as u64;
        report.total_edges = self.executor.ids() as u64;
    }
}

/// CPU time of this process.
fn own_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the time to where it is told, and nothing else.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0;
    if failed { Duration::ZERO } else { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) }
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
