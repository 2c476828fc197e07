//! `wug-bench automata`: how long it takes to build automata of grammars in
//! the shape and size of those in the paper on Gramatron.

use super::{cpu, median};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome};
use wug_automata::{Built, Form, Limits, shapes};
use wug_grammar::transform::lower;
use wug_grammar::{Notation, load::load_text};

/// Seconds that the paper gives for its grammars, on average.
const PAPER_SECONDS: f64 = 2.09;

/// Build automata of grammars as large as the paper's
#[derive(Args)]
#[command(after_help = "Example:\n  wug-bench automata")]
pub struct AutomataBench {
    /// Alternatives of each grammar
    #[arg(long, value_delimiter = ',', default_values_t = shapes::SIZES, value_name = "N,N…")]
    sizes: Vec<usize>,
    /// Rounds for each size
    #[arg(long, default_value = "5", value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    alternatives: usize,
    /// Milliseconds of this thread, medians: reading the text, the normal
    /// form, the automaton.
    load_ms: f64,
    form_ms: f64,
    build_ms: f64,
    states: usize,
    transitions: u64,
    nesting: Option<u32>,
    automaton_bytes: usize,
    /// The most memory of this process so far.
    peak_bytes: Option<u64>,
}

impl AutomataBench {
    pub fn run(self) -> Outcome {
        let rows = self.sizes.iter().map(|&n| self.measure(n)).collect::<Result<Vec<_>, _>>()?;
        let seconds = rows.iter().map(|r| (r.load_ms + r.form_ms + r.build_ms) / 1e3).sum::<f64>();
        let average = seconds / rows.len().max(1) as f64;
        let ratio = PAPER_SECONDS / average;
        if self.json {
            return print_json(&serde_json::json!({
                "benchmark": "automaton", "rows": rows, "average_seconds": average,
                "paper_seconds": PAPER_SECONDS, "times_as_fast": ratio,
            }));
        }
        let mut out = format!(
            "{:>12} {:>8} {:>8} {:>8} {:>8} {:>12} {:>8} {:>9} {:>9}\n",
            "alternatives",
            "load ms",
            "form ms",
            "build ms",
            "states",
            "transitions",
            "nesting",
            "KiB",
            "peak MiB"
        );
        for row in &rows {
            let _ = writeln!(
                out,
                "{:>12} {:>8.1} {:>8.1} {:>8.1} {:>8} {:>12} {:>8} {:>9} {:>9}",
                row.alternatives,
                row.load_ms,
                row.form_ms,
                row.build_ms,
                row.states,
                row.transitions,
                row.nesting.map_or("-".to_string(), |n| n.to_string()),
                row.automaton_bytes.div_ceil(1024),
                row.peak_bytes.map_or("-".to_string(), |b| b.div_ceil(1 << 20).to_string()),
            );
        }
        let _ =
            writeln!(out, "on average {average:.3} s; the paper gives {PAPER_SECONDS} s: {ratio:.1} times");
        print(&out)
    }

    fn measure(&self, alternatives: usize) -> Result<Row, Failure> {
        let text = shapes::grammar(alternatives);
        let (mut load, mut form, mut build) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = None;
        for _ in 0..self.rounds.max(1) {
            let begin = cpu();
            let loaded = load_text("shape.wug", &text, Notation::Wug);
            let grammar =
                loaded.map_err(|_| Failure::Message(1, "the made-up grammar is wrong".to_string()))?;
            let lowered = lower::lower(&grammar.grammar).grammar;
            let read = cpu();
            let unfit = |why: wug_automata::Unfit| Failure::Message(1, why.to_string());
            let formed = Form::of(&lowered).map_err(unfit)?;
            let expanded = cpu();
            let built = Built::new(formed, Limits::DEFAULT).map_err(unfit)?;
            let end = cpu();
            let millis = |from: std::time::Duration, to: std::time::Duration| (to - from).as_secs_f64() * 1e3;
            load.push(millis(begin, read));
            form.push(millis(read, expanded));
            build.push(millis(expanded, end));
            last = Some(built);
        }
        let Some(built) = last else { return Err(Failure::usage("give one round at least")) };
        Ok(Row {
            alternatives,
            load_ms: median(load),
            form_ms: median(form),
            build_ms: median(build),
            states: built.automaton.states().len(),
            transitions: built.automaton.unit_transitions(),
            nesting: built.nesting.as_ref().map(|(_, times)| *times),
            automaton_bytes: built.automaton.bytes(),
            peak_bytes: peak(),
        })
    }
}

/// The most memory that this process had, as Linux tells it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
