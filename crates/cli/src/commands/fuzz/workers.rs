//! Several workers on one output folder: a process each, on a core of its
//! own, which is started again if it dies.
//!
//! Processes, not threads: a worker that dies takes no other with it, and
//! finds are shared as with any other fuzzer beside, through the folder.

use super::Fuzz;
use super::status::Status;
use crate::interrupt::Interrupt;
use crate::{Failure, Outcome, terminal};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wug_campaign::fuzz::{Event, Watch};
use wug_campaign::report::Report;

/// Says which worker a process is: its number, counted from 0.
const WORKER: &str = "WUG_WORKER";

/// How often workers are looked after.
const LOOK: Duration = Duration::from_millis(500);
/// A worker that ends sooner than this after its first start was started
/// wrongly, and the others will be no better.
const TOO_SOON: Duration = Duration::from_secs(5);
/// A worker that dies so often in a row, each time at once, is given up.
const MOST_DEATHS: u32 = 5;

/// The number of this worker, if this process is one.
pub fn number() -> Option<u32> {
    std::env::var(WORKER).ok()?.parse().ok()
}

/// The name of a worker in the output folder.
pub fn name(number: u32) -> String {
    format!("worker{number}")
}

/// Keeps this process, and what it starts, on one core that nobody else
/// keeps to, as afl-fuzz does: then a run is handed over without waking
/// another core. AFL_NO_AFFINITY leaves it to the system.
pub fn pin(number: u32) -> Option<usize> {
    if std::env::var_os("AFL_NO_AFFINITY").is_some() {
        return None;
    }
    let allowed = rustix::thread::sched_getaffinity(None).ok()?;
    let cores: Vec<usize> =
        (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    // On one core already, by whoever started this.
    if cores.len() == 1 {
        return cores.first().copied();
    }
    let taken = taken();
    // Workers start at the same moment: each looks from its own place on.
    let mut order = cores.iter().cycle().skip(number as usize).take(cores.len());
    // None is left: let the system share them out.
    let core = *order.find(|core| !taken.contains(core))?;
    let mut one = rustix::thread::CpuSet::new();
    one.set(core);
    rustix::thread::sched_setaffinity(None, &one).ok()?;
    Some(core)
}

/// Cores that some process keeps to alone.
fn taken() -> Vec<usize> {
    let one = |process: fs::DirEntry| {
        let status = fs::read_to_string(process.path().join("status")).ok()?;
        // Threads of the system have no memory, and cores of their own.
        status.contains("VmSize:").then_some(())?;
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().parse().ok()
    };
    fs::read_dir("/proc").map_or_else(|_| Vec::new(), |all| all.flatten().filter_map(one).collect())
}

struct Worker {
    number: u32,
    process: Option<Child>,
    begin: Instant,
    deaths: u32,
    /// Not to be started again.
    done: bool,
}

/// Runs workers until they end or somebody wants them to.
pub fn run(fuzz: &Fuzz, interrupt: &Interrupt) -> Outcome {
    let mut status = Status::quiet(interrupt.clone());
    let mut workers = Vec::new();
    for number in 0..fuzz.workers {
        workers.push(Worker { number, process: None, begin: Instant::now(), deaths: 0, done: false });
    }
    let outcome = tend(fuzz, interrupt, &mut workers, &mut status);
    for worker in &mut workers {
        if let Some(process) = &mut worker.process {
            // They were asked already, or are asked now; none is left behind.
            ask(process);
            let _ = process.wait();
        }
    }
    status.event(Event::Report(&sum(fuzz)));
    status.end();
    outcome
}

fn tend(fuzz: &Fuzz, interrupt: &Interrupt, workers: &mut [Worker], status: &mut Status) -> Outcome {
    let end = fuzz.seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    loop {
        for worker in workers.iter_mut().filter(|worker| !worker.done) {
            worker.look(interrupt)?;
        }
        if workers.iter().all(|worker| worker.done) {
            return Ok(());
        }
        // One that was started again would take its whole time again.
        if interrupt.asked() || end.is_some_and(|end| Instant::now() >= end) {
            return Ok(());
        }
        std::thread::sleep(LOOK);
        status.event(Event::Report(&sum(fuzz)));
    }
}

impl Worker {
    /// Starts it, or starts it again.
    fn look(&mut self, interrupt: &Interrupt) -> Outcome {
        let Some(process) = &mut self.process else { return self.start() };
        let Ok(Some(ended)) = process.try_wait() else { return Ok(()) };
        self.process = None;
        if ended.success() || interrupt.asked() {
            self.done = true;
            return Ok(());
        }
        let soon = self.begin.elapsed() < TOO_SOON;
        if let (true, Some(code)) = (soon && self.deaths == 0, ended.code()) {
            // It has said why.
            return Err(Failure::Quiet(code.clamp(1, 255) as u8));
        }
        self.deaths = if soon { self.deaths + 1 } else { 1 };
        if self.deaths > MOST_DEATHS {
            self.done = true;
            terminal::warning(&format!(
                "worker {} ends again and again ({ended}): it is given up",
                self.number
            ));
            return Ok(());
        }
        terminal::warning(&format!("worker {} ended ({ended}): it is started again", self.number));
        self.start()
    }

    fn start(&mut self) -> Outcome {
        let failed = |error: std::io::Error| Failure::Message(1, format!("cannot start a worker: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1)).env(WORKER, self.number.to_string());
        command.env("AFL_NO_UI", "1").stdin(Stdio::null());
        if self.deaths > 0 {
            command.env("AFL_AUTORESUME", "1");
        }
        self.process = Some(command.spawn().map_err(failed)?);
        self.begin = Instant::now();
        Ok(())
    }
}

/// Asks a worker to end, as Ctrl-C would.
fn ask(process: &Child) {
    if let Some(pid) = rustix::process::Pid::from_raw(process.id() as i32) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
}

/// The figures of all workers as one.
fn sum(fuzz: &Fuzz) -> Report {
    let mut sum = Report::default();
    for number in 0..fuzz.workers {
        let path = fuzz.output.join(name(number)).join("report.json");
        let Some(one) = fs::read(path).ok().and_then(|json| serde_json::from_slice::<Report>(&json).ok())
        else {
            continue;
        };
        sum.run_time = sum.run_time.max(one.run_time);
        sum.execs_done += one.execs_done;
        sum.execs_per_sec += one.execs_per_sec;
        sum.execs_ps_last_min += one.execs_ps_last_min;
        sum.edges_found = sum.edges_found.max(one.edges_found);
        sum.total_edges = sum.total_edges.max(one.total_edges);
        sum.corpus_count = sum.corpus_count.max(one.corpus_count);
        sum.corpus_parsed = sum.corpus_parsed.max(one.corpus_parsed);
        sum.saved_crashes += one.saved_crashes;
        sum.saved_hangs += one.saved_hangs;
        for mutator in one.mutators {
            match sum.mutators.iter_mut().find(|known| known.name == mutator.name) {
                Some(known) => known.finds += mutator.finds,
                None => sum.mutators.push(mutator),
            }
        }
    }
    sum
}
