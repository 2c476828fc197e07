//! `wug-bench executor`: what a run costs, beside afl-fuzz.
//!
//! Both fuzzers run the same inputs in the same order through their own
//! builds of the same source: afl-fuzz gets them from a custom mutator that
//! only hands them out, with trimming and its own mutations switched off.
//! Both look for new coverage after each run. Counted is CPU time, user and
//! system, of the fuzzer and everything it started. Where the two differ,
//! it is to our disadvantage: our start is counted, afl-fuzz's is not (its
//! time is the difference between a long and a short campaign), and our
//! targets are confined, afl-fuzz's are not.
//!
//! Rounds alternate; ratios are medians of rounds. Both are bound to one
//! core, as afl-fuzz does it by itself.

mod build;
pub mod cost;
mod layers;
mod rival;

use super::median;
use build::Targets;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome};

/// What a run costs, beside afl-fuzz; what confinement costs
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug-bench executor\n  wug-bench executor --cjson cjson-1.7.15 --json\n\ntools/debian-source fetches the source of cjson. Needs clang, and afl-fuzz and\nafl-clang-fast (Debian package afl++)."
)]
pub struct Executor {
    /// Runs of a round; persistent, tenfold
    #[arg(long, default_value = "5000", value_name = "N")]
    runs: usize,
    /// Rounds of each comparison
    #[arg(long, default_value = "5", value_name = "N")]
    rounds: usize,
    /// The folder of cJSON.c; without it, cjson is left out
    #[arg(long, value_name = "FOLDER")]
    cjson: Option<PathBuf>,
    /// Leave afl-fuzz out
    #[arg(long)]
    alone: bool,
    /// Only what each layer of confinement costs
    #[arg(long)]
    layers: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    target: String,
    mode: &'static str,
    runs: usize,
    /// CPU time of one run, fuzzer and target, in microseconds.
    afl_us: f64,
    wug_us: f64,
    /// Of which the fuzzer's own process.
    wug_own_us: f64,
    /// afl over wug, median of rounds.
    ratio: f64,
}

#[derive(Serialize)]
struct Report {
    benchmark: &'static str,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<cost::Own>,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<cost::Floor>,
    layers: Vec<layers::Layer>,
}

impl Executor {
    pub fn run(self) -> Outcome {
        let failed = |message: String| Failure::Message(1, message);
        let targets = Targets::new(self.cjson.as_deref()).map_err(failed)?;
        cost::bind_to_one_core().map_err(failed)?;
        let mut rows = Vec::new();
        if !self.alone && !self.layers {
            for target in targets.pairs() {
                rows.push(self.compare(&target, &targets).map_err(failed)?);
            }
        }
        let (mut own, mut floor) = (None, None);
        if !self.layers {
            own = Some(cost::own(&targets, self.runs * 20).map_err(failed)?);
            floor = Some(cost::floor(&targets, self.runs).map_err(failed)?);
        }
        let layers = layers::measure(&targets, self.runs / 5, self.rounds).map_err(failed)?;
        let report = Report { benchmark: "executor", rows, own, floor, layers };
        if self.json { print_json(&report) } else { print(&report.text()) }
    }

    fn compare(&self, pair: &build::Pair, targets: &Targets) -> Result<Row, String> {
        let runs = if pair.persistent { self.runs * 10 } else { self.runs };
        let (mut ours, mut own, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.rounds.max(1) {
            let afl = rival::afl_fuzz(pair, targets, runs)?;
            let wug = cost::whole(pair, &targets.inputs, runs)?;
            ratios.push(afl / wug.all);
            theirs.push(afl);
            ours.push(wug.all);
            own.push(wug.own);
        }
        Ok(Row {
            target: pair.name.to_string(),
            mode: if pair.persistent { "persistent" } else { "fork" },
            runs,
            afl_us: median(theirs),
            wug_us: median(ours),
            wug_own_us: median(own),
            ratio: median(ratios),
        })
    }
}

impl Report {
    fn text(&self) -> String {
        let mut out = String::new();
        if !self.rows.is_empty() {
            let _ = writeln!(
                out,
                "{:<8} {:<10} {:>8} {:>10} {:>10} {:>10} {:>9}",
                "target", "mode", "runs", "afl us", "wug us", "own us", "afl/wug"
            );
        }
        for row in &self.rows {
            let _ = writeln!(
                out,
                "{:<8} {:<10} {:>8} {:>10.2} {:>10.2} {:>10.2} {:>9.2}",
                row.target, row.mode, row.runs, row.afl_us, row.wug_us, row.wug_own_us, row.ratio
            );
        }
        if let (Some(own), Some(floor)) = (&self.own, &self.floor) {
            let _ = writeln!(
                out,
                "\nown cost of the fuzzer: {:.2} us per run ({} ids, inputs of {} bytes, persistent, {} runs)",
                own.us, own.ids, own.bytes, own.runs
            );
            let _ = writeln!(
                out,
                "the system alone: {:.1} us to fork, exit and wait, {:.1} us by bare calls; {:.1} us by a bare fork server;",
                floor.fork_us, floor.bare_us, floor.server_us
            );
            let _ = writeln!(
                out,
                "a word there and back, one side: {:.2} us by pipes, {:.2} us across two cores, {:.2} us by futex, {:.2} us by yielding\n",
                floor.word_us, floor.across_us, floor.futex_us, floor.yield_us
            );
        }
        let _ = writeln!(
            out,
            "{:<32} {:>9} {:>7} {:>9} {:>7} {:>13} {:>7} {:>9}",
            "confinement", "spawn us", "ratio", "fork us", "ratio", "persistent us", "ratio", "start us"
        );
        for layer in &self.layers {
            let _ = writeln!(
                out,
                "{:<32} {:>9.1} {:>7.3} {:>9.1} {:>7.3} {:>13.3} {:>7.3} {:>9.0}",
                layer.name,
                layer.spawn_us,
                layer.spawn_ratio,
                layer.fork_us,
                layer.fork_ratio,
                layer.persistent_us,
                layer.persistent_ratio,
                layer.start_us
            );
        }
        out
    }
}
