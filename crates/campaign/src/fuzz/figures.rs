//! The report: what is counted, and what follows from it.

use super::execute::Making;
use super::{Campaign, Error, Options};
use std::time::{Duration, Instant};
use wug_folder::report::{MutatorReport, Report};
use wug_target::Executor;

/// What is counted while a campaign runs.
#[derive(Debug)]
pub(super) struct Figures {
    pub report: Report,
    pub execs: u64,
    pub calibration: Duration,
    pub trim: Duration,
    /// Executions spent on it.
    pub trim_execs: u64,
    pub sync: Duration,
    pub generalise: Duration,
    begin: Instant,
    /// What earlier runs of this campaign took.
    before: Duration,
    execs_before: u64,
    slowest: Duration,
    /// Runs that were timed, and how long they took; none once it was told.
    timed: Option<(u32, Duration)>,
    last_find: Instant,
    /// When and with how many executions the last minute began.
    minute: (Instant, u64),
}

/// So many runs tell whether a target is slow, which is this.
const FEW_RUNS: u32 = 20;
const SLOW: Duration = Duration::from_millis(15);

/// More than any campaign has: what a file says beyond is not believed.
const MOST_SECONDS: u64 = 1 << 40;
const MOST_EXECS: u64 = 1 << 60;

/// Seconds of Unix time.
pub(super) fn seconds_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}

impl Figures {
    pub fn new(
        mut report: Report,
        executor: &Executor,
        execution: &wug_target::Options,
        options: &Options,
        previous: Option<&Report>,
    ) -> Figures {
        let begin = Instant::now();
        // Bounded where they come in, so that nothing that is added to them or
        // made of them can overflow.
        let before = previous.map_or(0, |previous| previous.run_time.min(MOST_SECONDS));
        let execs = previous.map_or(0, |previous| previous.execs_done.min(MOST_EXECS));
        report.start_time = seconds_now().saturating_sub(before);
        report.fuzzer_pid = std::process::id();
        report.seed = options.seed;
        report.exec_timeout = execution.timeout.as_millis() as u64;
        report.target_mode = match (executor.has_server(), executor.is_persistent()) {
            (false, _) => "default",
            (true, false) => "shmem_testcase",
            (true, true) => "shmem_testcase persistent",
        }
        .into();
        Figures {
            report,
            execs,
            calibration: Duration::ZERO,
            trim: Duration::ZERO,
            trim_execs: 0,
            sync: Duration::ZERO,
            generalise: Duration::ZERO,
            begin,
            before: Duration::from_secs(before),
            execs_before: execs,
            slowest: Duration::ZERO,
            timed: Some((0, Duration::ZERO)),
            last_find: begin,
            minute: (begin, execs),
        }
    }

    /// Time of this campaign, earlier runs included.
    pub fn elapsed(&self) -> Duration {
        self.before.saturating_add(self.begin.elapsed())
    }

    /// Time and executions of this run alone.
    pub fn own(&self) -> (Duration, u64) {
        (self.begin.elapsed(), self.execs.saturating_sub(self.execs_before))
    }

    /// A run took so long.
    pub fn timed(&mut self, wall: Duration) {
        if let Some((runs, time)) = &mut self.timed {
            (*runs, *time) = (*runs + 1, time.saturating_add(wall));
        }
    }

    /// How long a run takes, once, if that is long.
    pub fn slowness(&mut self) -> Option<Duration> {
        let (runs, time) = self.timed.filter(|(runs, _)| *runs >= FEW_RUNS)?;
        self.timed = None;
        Some(time / runs).filter(|mean| *mean >= SLOW)
    }

    /// An entry was kept.
    pub fn kept(&mut self, making: &Making, depth: u32, wall: Duration) {
        match making {
            Making::Import(..) => self.report.corpus_imported += 1,
            Making::Mutation { .. } => {
                self.report.corpus_found += 1;
                self.report.last_find = seconds_now();
                self.last_find = Instant::now();
            }
            Making::Seed(_) | Making::Entry(_) => {}
        }
        self.report.max_depth = self.report.max_depth.max(u64::from(depth) + 1);
        self.slowest = self.slowest.max(wall);
    }
}

impl Campaign<'_> {
    pub(super) fn write_figures(&mut self) -> Result<(), Error> {
        self.fill_report();
        let report = self.figures.report.clone();
        self.insist(|folder| folder.report(&report))?;
        self.insist(|folder| folder.plot(&report))?;
        let seen = self.feedback.seen().to_vec();
        self.insist(|folder| folder.bitmap(&seen))
    }

    pub(super) fn fill_report(&mut self) {
        let Figures { report, .. } = &mut self.figures;
        let turns = &self.corpus.turns;
        let entries = self.corpus.entries();
        report.corpus_count = entries.len() as u64;
        report.corpus_parsed = entries.iter().filter(|entry| entry.parses).count() as u64;
        report.corpus_variable = entries.iter().filter(|entry| entry.varies).count() as u64;
        let waiting = (0..turns.len()).filter(|at| turns.merits(*at).turns == 0).count() as u64;
        report.pending_total = waiting;
        let fewest = (0..turns.len()).map(|at| turns.merits(at).turns).min().unwrap_or(0);
        report.cycles_done = u64::from(fewest);
        report.edges_found = self.feedback.edges() as u64;
        report.total_edges = (self.executor.ids() as u64).max(report.edges_found);
        report.var_byte_count = self.feedback.flaky().len() as u64;
        let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        report.bitmap_cvg = share(report.edges_found, report.total_edges);
        report.stability = 100.0 - share(report.var_byte_count, report.edges_found);
        report.saved_crashes = self.crashes.buckets.kept();
        report.saved_hangs = self.crashes.hangs;
        report.crashes = self.crashes.buckets.all().to_vec();
        report.testcache_size = self.corpus.bytes() as u64;
        report.testcache_count = entries.len() as u64;
        let arm = |arm: &crate::schedule::Arm| MutatorReport {
            name: arm.name.into(),
            tries: arm.tries,
            finds: arm.finds,
            execs: arm.tries,
            yield_now: arm.rate(),
        };
        if let Some(learned) = &self.learned {
            report.generalise_execs = learned.execs;
            learned.fill(&mut report.generalised);
        }
        report.mutators = self.bandit.arms().iter().map(arm).collect();
        self.fill_times();
    }

    fn fill_times(&mut self) {
        let elapsed = self.figures.elapsed();
        let figures = &mut self.figures;
        let own = figures.begin.elapsed();
        let (since, execs_then) = figures.minute;
        if since.elapsed() >= Duration::from_secs(60) {
            figures.minute = (Instant::now(), figures.execs);
        }
        let rate = |execs: u64, time: Duration| execs as f64 / time.as_secs_f64().max(1e-6);
        let report = &mut figures.report;
        report.last_update = seconds_now();
        report.run_time = elapsed.as_secs();
        report.time_wo_finds = figures.last_find.elapsed().as_secs();
        report.calibration_time = figures.calibration.as_secs();
        report.trim_time = figures.trim.as_secs();
        let traced = self.comparisons.as_ref();
        report.cmplog_time = traced.map_or(0, |traced| traced.time.as_secs());
        report.traced_execs = traced.map_or(0, |traced| traced.execs);
        report.sync_time = figures.sync.as_secs();
        let traced = traced.map_or(Duration::ZERO, |traced| traced.time);
        let others = figures.calibration + figures.trim + figures.sync + figures.generalise + traced;
        report.fuzz_time = own.saturating_sub(others).as_secs();
        report.execs_done = figures.execs;
        report.execs_per_sec = rate(figures.execs.saturating_sub(figures.execs_before), own);
        report.execs_ps_last_min = rate(figures.execs.saturating_sub(execs_then), since.elapsed());
        report.execs_since_crash = figures.execs.saturating_sub(self.crashes.last);
        report.slowest_exec_ms = figures.slowest.as_millis() as u64;
    }
}
