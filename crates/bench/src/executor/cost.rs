//! What runs cost us, by the system's own accounts.

use super::build::{Pair, Targets};
use serde::Serialize;
use std::path::Path;
use wug_target::{Batch, Executor, Kind, Options, Target, Verdict, cores, coverage};

/// Microseconds of one run.
pub struct Cost {
    pub all: f64,
    pub own: f64,
}

/// The fuzzer's own cost, without the target.
#[derive(Serialize)]
pub struct Own {
    pub us: f64,
    pub ids: usize,
    pub bytes: usize,
    pub runs: usize,
}

/// What the system itself takes, beside which the figures stand.
#[derive(Serialize)]
pub struct Floor {
    /// A process that is forked, exits and is waited for.
    pub fork_us: f64,
    /// The same by bare calls: hardly a page is touched.
    pub bare_us: f64,
    /// A run by a fork server that does nothing else, without
    /// instrumentation, driven as all others are.
    pub server_us: f64,
    /// A word to another process and back, over pipes: one side.
    pub word_us: f64,
    /// The same if the other process is on another core; 0 if there is none.
    pub across_us: f64,
    /// A word by shared memory and futex, on one core.
    pub futex_us: f64,
    /// A word between processes that only give way to each other.
    pub yield_us: f64,
}

/// Measured by programs of its own.
pub fn floor(targets: &Targets, runs: usize) -> Result<Floor, String> {
    let server_us = drive(&targets.path("server"), false, &targets.inputs, runs)?.all;
    let output =
        std::process::Command::new(targets.path("floor")).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let &[fork_us, bare_us, word_us, across_us, futex_us, yield_us] = numbers.as_slice() else {
        return Err("the floor could not be measured".into());
    };
    Ok(Floor { fork_us, bare_us, server_us, word_us, across_us, futex_us, yield_us })
}

/// Runs the inputs as a fuzzer does: each run's coverage is compared with
/// all that was seen. The start counts.
pub fn whole(pair: &Pair, inputs: &[Vec<u8>], runs: usize) -> Result<Cost, String> {
    drive(&pair.wug, pair.persistent, inputs, runs)
}

fn drive(program: &Path, persistent: bool, inputs: &[Vec<u8>], runs: usize) -> Result<Cost, String> {
    let (children, own) = (children_micros(), own_micros());
    let mut executor = executor(Target::new(program))?;
    if executor.is_persistent() != persistent {
        return Err(format!("{} is not driven as it should be", program.display()));
    }
    campaign(&mut executor, inputs, runs)?;
    drop(executor);
    let own = own_micros() - own;
    let all = own + children_micros() - children;
    Ok(Cost { all: all / runs as f64, own: own / runs as f64 })
}

/// The fuzzer's own cost with many ids, after a warm-up.
pub fn own(targets: &Targets, runs: usize) -> Result<Own, String> {
    let bytes = 200;
    let cut = |input: &Vec<u8>| input.iter().copied().cycle().take(bytes).collect();
    let inputs: Vec<Vec<u8>> = targets.inputs.iter().filter(|input| !input.is_empty()).map(cut).collect();
    let mut executor = executor(Target::new(targets.path("many.wug")))?;
    campaign(&mut executor, &inputs, runs / 10)?;
    let before = own_micros();
    campaign(&mut executor, &inputs, runs)?;
    let spent = own_micros() - before;
    Ok(Own { us: spent / runs as f64, ids: executor.ids(), bytes, runs })
}

pub fn executor(target: Target) -> Result<Executor, String> {
    let options = Options { kind: Kind::Server, ..Options::default() };
    Executor::new(target, options).map_err(|error| error.to_string())
}

/// Runs that go together, as in campaigns.
const TOGETHER: usize = 32;

/// Runs and looks for news, as fuzzers do.
pub fn campaign(executor: &mut Executor, inputs: &[Vec<u8>], runs: usize) -> Result<(), String> {
    let mut map = Vec::new();
    let mut seen = Vec::new();
    let mut batch = Batch::default();
    let mut left = inputs.iter().cycle().take(runs);
    loop {
        batch.clear();
        left.by_ref().take(TOGETHER).for_each(|input| batch.push(input));
        if batch.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        while at < batch.len() {
            let (place, run) = executor.run_batch(&batch, at, &seen).map_err(|error| error.to_string())?;
            if run.verdict != Verdict::Ok {
                return Err(format!("a run ended with {}", run.verdict));
            }
            if coverage::has_news(run.coverage, &seen) {
                map.clear();
                map.extend_from_slice(run.coverage);
                coverage::classify(&mut map);
                coverage::merge(&map, &mut seen);
            }
            at = place + 1;
        }
    }
}

/// CPU time of this process.
pub fn own_micros() -> f64 {
    usage(libc::RUSAGE_SELF)
}

/// CPU time of everything that this process started and that has ended.
pub fn children_micros() -> f64 {
    usage(libc::RUSAGE_CHILDREN)
}

/// Page faults of the same.
pub fn children_faults() -> f64 {
    account(libc::RUSAGE_CHILDREN).ru_minflt as f64
}

fn account(who: i32) -> libc::rusage {
    // SAFETY: a structure of plain numbers, filled by the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    }
}

fn usage(who: i32) -> f64 {
    let usage = account(who);
    let micros = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    micros(usage.ru_utime) + micros(usage.ru_stime)
}

/// One core for all that follows, and orphans come to this process: what a
/// fuzzer does not wait for counts as well.
pub fn bind_to_one_core() -> Result<(), String> {
    // SAFETY: no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    let allowed = cores::allowed().map_err(|error| error.to_string())?;
    // The last core is the least likely to serve interrupts.
    let core = allowed.last().ok_or("no core")?;
    cores::bind(*core).map_err(|error| error.to_string())
}

/// Takes in processes that lost their parent; they end since their pipes do.
pub fn take_in_orphans() {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::time::Instant::now() < end {
        // SAFETY: no memory but a null pointer. The benchmark has no other
        // children at this time.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => std::thread::sleep(std::time::Duration::from_millis(5)),
            pid if pid < 0 => return,
            _ => {}
        }
    }
}
