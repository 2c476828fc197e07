//! Statistics: the report of a campaign, and what is only counted for it.

use super::evaluate::Worth;
use super::runner::Runner;
use super::source::Source;
use std::time::{Duration, Instant};
use wug_folder::report::{MutatorReport, Report};
use wug_target::Executor;

/// So many executions tell whether a target is slow, which is this long.
const FEW_RUNS: u32 = 20;
const SLOW: Duration = Duration::from_millis(15);
/// The row of executions for inputs that are not evaluated to the end.
const UNFINISHED: &str = "unfinished";
/// What "the last minute" is.
const MINUTE: Duration = Duration::from_secs(60);

/// The report, and what it needs besides.
#[derive(Debug)]
pub(crate) struct Statistics {
    pub report: Report,
    pub stages: Stages,
    slowest: Duration,
    /// Executions that were timed, and how long they took; none once the
    /// observer was told.
    timed: Option<(u32, Duration)>,
    last_find: Instant,
    /// When and with how many executions the last minute began.
    minute: (Instant, u64),
}

/// What something took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    execs: u64,
    time: Duration,
}

impl Spent {
    pub fn add(&mut self, execs: u64, time: Duration) {
        self.execs += execs;
        self.time = self.time.saturating_add(time);
    }

    /// As a row that has no name yet.
    pub fn report(&self) -> MutatorReport {
        MutatorReport { execs: self.execs, seconds: self.time.as_secs_f64(), ..MutatorReport::default() }
    }
}

/// What inputs took that no mutator made, by where they came from.
#[derive(Debug, Default)]
pub(crate) struct Stages {
    all: Vec<Stage>,
}

#[derive(Debug, Default)]
struct Stage {
    name: &'static str,
    spent: Spent,
    tries: u64,
    finds: u64,
}

impl Stages {
    /// An input was evaluated.
    pub fn add(&mut self, name: &'static str, worth: Worth) {
        let stage = self.stage(name);
        stage.spent.add(worth.execs, worth.time);
        stage.tries += 1;
        stage.finds += u64::from(worth.gain > 0.0);
    }

    /// A stage took so much for what came before any input.
    pub fn spend(&mut self, name: &'static str, (time, execs): (Duration, u64)) {
        self.stage(name).spent.add(execs, time);
    }

    fn stage(&mut self, name: &'static str) -> &mut Stage {
        let at = self.all.iter().position(|stage| stage.name == name).unwrap_or_else(|| {
            self.all.push(Stage { name, ..Stage::default() });
            self.all.len() - 1
        });
        &mut self.all[at]
    }

    /// Rows behind those of mutators.
    fn report(&self, rows: &mut Vec<MutatorReport>) {
        for Stage { name, spent, tries, finds } in &self.all {
            let (name, tries, finds) = ((*name).into(), *tries, *finds);
            let row = MutatorReport { name, tries, finds, is_stage: true, ..spent.report() };
            match rows.iter_mut().find(|known| known.name == row.name) {
                Some(known) => known.add(&row),
                None => rows.push(row),
            }
        }
    }
}

/// Seconds of Unix time.
pub(crate) fn seconds_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}

/// Fills in how a campaign or search was started, which took so long already.
pub(crate) fn begin_report(report: &mut Report, executor: &Executor, seed: u64, elapsed: Duration) {
    report.start_time = seconds_now().saturating_sub(elapsed.as_secs());
    report.fuzzer_pid = std::process::id();
    report.seed = seed;
    report.target_mode = match (executor.has_server(), executor.is_persistent()) {
        (false, _) => "default",
        (true, false) => "shmem_testcase",
        (true, true) => "shmem_testcase persistent",
    }
    .into();
}

impl Statistics {
    pub fn new(mut report: Report, runner: &Runner<'_>, seed: u64) -> Statistics {
        let now = Instant::now();
        begin_report(&mut report, &runner.executor, seed, runner.elapsed());
        Statistics {
            report,
            stages: Stages::default(),
            slowest: Duration::ZERO,
            timed: Some((0, Duration::ZERO)),
            last_find: now,
            minute: (now, runner.execs()),
        }
    }

    /// An input was executed.
    pub fn executed(&mut self, length: usize, wall: Duration) {
        self.report.input_bytes += length as u64;
        if let Some((runs, time)) = &mut self.timed {
            (*runs, *time) = (*runs + 1, time.saturating_add(wall));
        }
    }

    /// An entry was kept.
    pub fn kept(&mut self, source: &Source, depth: u32, wall: Duration) {
        match source {
            Source::Import(..) => self.report.corpus_imported += 1,
            Source::Mutation { .. } => {
                self.report.corpus_found += 1;
                self.report.last_find = seconds_now();
                self.last_find = Instant::now();
            }
            Source::Seed(_) | Source::Entry(_) => {}
        }
        self.report.max_depth = self.report.max_depth.max(u64::from(depth) + 1);
        self.slowest = self.slowest.max(wall);
    }

    /// How long an execution takes, once, if that is long.
    pub fn slowness(&mut self) -> Option<Duration> {
        let (runs, time) = self.timed.filter(|(runs, _)| *runs >= FEW_RUNS)?;
        self.timed = None;
        Some(time / runs).filter(|mean| *mean >= SLOW)
    }

    /// Fills in what follows from other figures.
    pub fn fill(&mut self, runner: &mut Runner<'_>) {
        let (since, execs_then) = self.minute;
        if since.elapsed() >= MINUTE {
            self.minute = (Instant::now(), runner.execs());
        }
        let report = &mut self.report;
        self.stages.report(&mut report.mutators);
        // What came of an input is not known when the end comes in between.
        let known: u64 = report.mutators.iter().map(|row| row.execs).sum();
        let execs = runner.own_execs().saturating_sub(known);
        if execs > 0 {
            let name = UNFINISHED.into();
            report.mutators.push(MutatorReport { name, execs, is_stage: true, ..MutatorReport::default() });
        }
        runner.report(report);
        report.total_edges = report.total_edges.max(report.edges_found);
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        report.bitmap_cvg = percent(report.edges_found, report.total_edges);
        report.stability = 100.0 - percent(report.var_byte_count, report.edges_found);
        report.last_update = seconds_now();
        report.time_wo_finds = self.last_find.elapsed().as_secs();
        let lately = runner.execs().saturating_sub(execs_then) as f64;
        report.execs_ps_last_min = lately / since.elapsed().as_secs_f64().max(1e-6);
        report.slowest_exec_ms = self.slowest.as_millis() as u64;
    }
}
