//! `wug-bench sinks`: what it costs to hand inputs over: to nothing, to
//! `/dev/null`, to a pipe.
//!
//! `wug generate` runs as a process of its own, its output going to each
//! place in turn. What counts is its CPU time, that of the system included;
//! the reader of the pipe has its own.

use super::executor::cost::children_micros;
use super::median;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::io::Read;
use std::process::{Command, Stdio};
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome, size};

/// Hand inputs over to nothing, to /dev/null and to a pipe
#[derive(Args)]
#[command(after_help = "Example:\n  wug-bench sinks json\n  wug-bench sinks grammar.json -d 32 --bytes 256M")]
pub struct Sinks {
    /// Names or files of grammars
    #[arg(required = true, value_name = "GRAMMAR")]
    grammars: Vec<String>,
    /// Depth limit
    #[arg(short, long, default_value = "32", value_name = "N")]
    depth: u32,
    /// Bytes of each round
    #[arg(long, value_parser = size::parse, default_value = "128M", value_name = "SIZE")]
    bytes: u64,
    /// Rounds
    #[arg(long, default_value = "7", value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    grammar: String,
    /// MiB per CPU-second with `--sink null`, median.
    null: f64,
    /// CPU time over that of `--sink null` of the same round, medians.
    dev_null: f64,
    pipe: f64,
}

#[derive(Clone, Copy)]
enum To {
    Nothing,
    DevNull,
    Pipe,
}

impl Sinks {
    pub fn run(self) -> Outcome {
        let mut rows = Vec::new();
        for grammar in &self.grammars {
            rows.push(self.measure(grammar)?);
        }
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "sinks", "rows": rows }));
        }
        let mut out = format!("CPU time over that of --sink null, median of {} rounds\n", self.rounds);
        let _ = writeln!(out, "{:20} {:>12} {:>10} {:>8}", "grammar", "null MiB/s", "/dev/null", "pipe");
        for row in &rows {
            let name = row.grammar.rsplit('/').next().unwrap_or(&row.grammar);
            let _ = writeln!(out, "{name:20} {:>12.1} {:>10.2} {:>8.2}", row.null, row.dev_null, row.pipe);
        }
        print(&out)
    }

    fn measure(&self, grammar: &str) -> Result<Row, Failure> {
        let (mut null, mut dev_null, mut pipe) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            let least = self.time(grammar, To::Nothing)?.max(1e-9);
            null.push(self.bytes as f64 / f64::from(1 << 20) / least);
            dev_null.push(self.time(grammar, To::DevNull)? / least);
            pipe.push(self.time(grammar, To::Pipe)? / least);
        }
        let grammar = grammar.to_string();
        Ok(Row { grammar, null: median(null), dev_null: median(dev_null), pipe: median(pipe) })
    }

    /// CPU seconds of a process that makes all inputs.
    fn time(&self, grammar: &str, to: To) -> Result<f64, Failure> {
        let refuse = |error: std::io::Error| Failure::Message(1, format!("cannot run `wug`: {error}"));
        let mut command = Command::new(crate::wug().map_err(refuse)?);
        command.args(["generate", grammar, "--engine", "tables", "-s", "1"]);
        command.args(["-d", &self.depth.to_string(), "--bytes", &self.bytes.to_string()]);
        match to {
            To::Nothing => command.args(["--sink", "null"]).stdout(Stdio::null()),
            To::DevNull => command.stdout(Stdio::null()),
            To::Pipe => command.stdout(Stdio::piped()),
        };
        let before = children_micros();
        let mut child = command.spawn().map_err(refuse)?;
        if let Some(mut reader) = child.stdout.take() {
            let mut buffer = vec![0; 1 << 16];
            while reader.read(&mut buffer).map_err(refuse)? > 0 {}
        }
        let status = child.wait().map_err(refuse)?;
        if !status.success() {
            return Err(Failure::Message(1, format!("`wug generate {grammar}` failed")));
        }
        Ok((children_micros() - before) / 1e6)
    }
}
