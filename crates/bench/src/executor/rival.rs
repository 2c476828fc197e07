//! afl-fuzz as a contestant.

use super::build::{Pair, Targets};
use super::cost::children_micros;
use std::fs;
use std::process::{Command, Stdio};

/// CPU time of one run in microseconds: from the difference of a long and a
/// short campaign, so that its start does not count.
pub fn afl_fuzz(pair: &Pair, targets: &Targets, runs: usize) -> Result<f64, String> {
    let (few, short) = campaign(pair, targets, runs / 10)?;
    let (many, long) = campaign(pair, targets, runs)?;
    if many <= few {
        return Err(format!("afl-fuzz made {few} and {many} runs"));
    }
    Ok((long - short) / (many - few))
}

/// Runs and their CPU time.
fn campaign(pair: &Pair, targets: &Targets, runs: usize) -> Result<(f64, f64), String> {
    let out = targets.path("out");
    let _ = fs::remove_dir_all(&out);
    let before = children_micros();
    let mut child = Command::new("afl-fuzz")
        .args(["-i", "seeds", "-o", "out", "-E", &runs.to_string(), "--"])
        .arg(&pair.afl)
        .current_dir(targets.path(""))
        .envs([
            ("AFL_NO_UI", "1"),
            ("AFL_NO_AFFINITY", "1"),
            ("AFL_SKIP_CPUFREQ", "1"),
            ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
            ("AFL_DISABLE_TRIM", "1"),
            ("AFL_CUSTOM_MUTATOR_ONLY", "1"),
        ])
        .env("AFL_CUSTOM_MUTATOR_LIBRARY", targets.path("mutator.so"))
        .env("WUG_BENCH_INPUTS", targets.path("inputs.bin"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("afl-fuzz: {error}"))?;
    let status = child.wait().map_err(|error| format!("afl-fuzz: {error}"))?;
    super::cost::take_in_orphans();
    let spent = children_micros() - before;
    let stats = fs::read_to_string(out.join("default/fuzzer_stats"))
        .map_err(|error| format!("afl-fuzz ended with {status} and without figures: {error}"))?;
    let done = stats
        .lines()
        .find_map(|line| line.strip_prefix("execs_done")?.split(':').nth(1)?.trim().parse().ok());
    done.map(|done: f64| (done, spent)).ok_or_else(|| "afl-fuzz tells no number of runs".to_string())
}
