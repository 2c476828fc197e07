//! `wug-bench fork`: what a run costs by where the fork server starts.
//!
//! In:  a program of `wug cc`, inputs, and optionally a build of AFL++.
//! Out: CPU time of a run, user and system, of the executor and all that it
//!      started: with a server before `main`, where the input begins, and
//!      with AFL++'s server.
//!
//! All are driven by the same executor on the same inputs, and look for new
//! coverage after each run. Starts do not count: the cost is the difference
//! between a long and a short series. Rounds alternate, and ratios are medians
//! of rounds, so that noise hits all.

use super::executor::cost::{bind_to_one_core, campaign, children_faults, children_micros, own_micros};
use super::median;
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome};
use wug_target::{Executor, Fork, ForkAt, Kind, Options, Target};

/// What a run costs by where the fork server starts
#[derive(Args)]
#[command(
    override_usage = "wug-bench fork --inputs FOLDER [OPTIONS] -- ./TARGET [ARGS] [@@]",
    after_help = "Example:\n  wug-bench fork --inputs seeds --afl ./lua.afl -- ./lua @@"
)]
pub struct ForkBench {
    /// Folder of the inputs
    #[arg(long, value_name = "FOLDER")]
    inputs: PathBuf,
    /// The same program as AFL++ builds it
    #[arg(long, value_name = "PROGRAM")]
    afl: Option<OsString>,
    /// Where the late server starts
    #[arg(long, default_value = "input", value_name = "WHERE")]
    fork_at: ForkAt,
    /// Runs of a series
    #[arg(long, default_value = "2000", value_name = "N", value_parser = clap::value_parser!(u32).range(20..))]
    runs: u32,
    /// Rounds
    #[arg(long, default_value = "5", value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(value_name = "TARGET", required = true, num_args = 1.., last = true)]
    command: Vec<OsString>,
}

#[derive(Serialize)]
struct Report {
    benchmark: &'static str,
    target: String,
    /// Where the server starts, in words.
    place: String,
    late: bool,
    runs: u32,
    rounds: usize,
    /// CPU time of one run, in microseconds: medians of rounds.
    main_us: f64,
    late_us: f64,
    afl_us: Option<f64>,
    /// How many times as many runs in a CPU second: medians of rounds.
    late_over_main: f64,
    late_over_afl: Option<f64>,
    /// Page faults of one run: main, late, AFL++.
    faults: Vec<f64>,
}

impl ForkBench {
    pub fn run(self) -> Outcome {
        let report = self.measure().map_err(|message| Failure::Message(1, message))?;
        if self.json { print_json(&report) } else { print(&report.text()) }
    }

    fn measure(&self) -> Result<Report, String> {
        let inputs = inputs(&self.inputs)?;
        let target = Target::new(&self.command[0]).arguments(self.command[1..].iter().cloned());
        let afl = self.afl.as_ref().map(|program| Target { program: program.clone(), ..target.clone() });
        let (place, late) = place(&target, &self.fork_at, &inputs)?;
        bind_to_one_core()?;
        let (mut costs, mut faults) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
        let arms = [
            Some((&target, Fork::default())),
            Some((&target, Fork::at(self.fork_at.clone()).unproven())),
            afl.as_ref().map(|afl| (afl, Fork::default())),
        ];
        for _ in 0..self.rounds.max(1) {
            for (number, (target, fork)) in
                arms.iter().enumerate().filter_map(|(n, arm)| Some((n, arm.as_ref()?)))
            {
                let [cost, fault] = self.cost(target, fork, &inputs)?;
                costs[number].push(cost);
                faults[number].push(fault);
            }
        }
        let over = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
        let [main, moved, theirs] = &costs;
        Ok(Report {
            benchmark: "fork",
            target: self.command[0].to_string_lossy().into_owned(),
            place,
            late,
            runs: self.runs,
            rounds: self.rounds.max(1),
            late_over_main: over(main, moved),
            late_over_afl: afl.as_ref().map(|_| over(theirs, moved)),
            afl_us: afl.as_ref().map(|_| median(theirs.clone())),
            main_us: median(main.clone()),
            late_us: median(moved.clone()),
            faults: faults.into_iter().map(median).collect(),
        })
    }

    /// CPU time of one run, in microseconds, and its page faults.
    fn cost(&self, target: &Target, fork: &Fork, inputs: &[Vec<u8>]) -> Result<[f64; 2], String> {
        let (short, long) = (self.runs as usize / 10, self.runs as usize);
        let first = spent(target, fork, inputs, short)?;
        let all = spent(target, fork, inputs, long)?;
        let each = |at: usize| (all[at] - first[at]).max(0.001) / (long - short) as f64;
        Ok([each(0), each(1)])
    }
}

fn options(fork: Fork) -> Options {
    Options { kind: Kind::Server, timeout: Duration::from_secs(5), fork, ..Options::default() }
}

/// CPU time and page faults of a series, its start included.
fn spent(target: &Target, fork: &Fork, inputs: &[Vec<u8>], runs: usize) -> Result<[f64; 2], String> {
    let before = [children_micros() + own_micros(), children_faults()];
    let mut executor =
        Executor::new(target.clone(), options(fork.clone())).map_err(|error| error.to_string())?;
    campaign(&mut executor, inputs, runs)?;
    drop(executor);
    Ok([children_micros() + own_micros() - before[0], children_faults() - before[1]])
}

/// Where the server starts once its place is proven.
fn place(target: &Target, at: &ForkAt, inputs: &[Vec<u8>]) -> Result<(String, bool), String> {
    let failed = |error: wug_target::Error| error.to_string();
    let mut executor = Executor::new(target.clone(), options(Fork::at(at.clone()))).map_err(failed)?;
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    executor.prove(&inputs).map_err(failed)?;
    Ok((executor.fork_point().to_string(), executor.fork_point().is_late()))
}

fn inputs(folder: &Path) -> Result<Vec<Vec<u8>>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
    }
    files.retain(|file| file.is_file());
    files.sort();
    let inputs = files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    if inputs.is_empty() { Err(format!("there is no input in {}", folder.display())) } else { Ok(inputs) }
}

impl Report {
    fn text(&self) -> String {
        let mut out = format!("{}\n{}\n\n", self.target, self.place);
        out += "| server | us of CPU a run | runs in a CPU second | page faults a run |\n| --- | ---: | ---: | ---: |\n";
        let rows =
            [("before main", Some(self.main_us)), ("late", Some(self.late_us)), ("AFL++", self.afl_us)];
        for ((name, us), faults) in rows.into_iter().zip(&self.faults) {
            let Some(us) = us else { continue };
            out += &format!("| {name} | {us:.1} | {:.0} | {faults:.0} |\n", 1e6 / us);
        }
        out += &format!("\nlate over main {:.2}", self.late_over_main);
        if let Some(ratio) = self.late_over_afl {
            out += &format!(", late over AFL++ {ratio:.2}");
        }
        out + &format!(" (medians of {} rounds of {} runs)", self.rounds, self.runs)
    }
}
