//! `wug run`: what a program does with inputs.

use super::{cannot_read, print, print_json, read};
use crate::execution_arg::{ExecutionArg, target};
use crate::{Failure, Outcome, terminal};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wug_campaign::executor::{Error, Executor, Observation, Verdict, coverage};

/// Run a program on inputs: verdict, time and edges of each
#[derive(Args)]
#[command(
    override_usage = "wug run [OPTIONS] TARGET [ARGS] [@@] -- FILE…",
    after_help = "Example:\n  wug run ./target @@ -- crashes/*\n  wug run -t 100 ./target --check -- input.json other.json\n  wug generate json | wug run jq . -- -\n\nWithout @@ the target reads standard input. A FILE that is a folder stands\nfor the files in it, - for standard input.\n\nExits 0 if all is well, 1 after a timeout, 2 after a crash, 3 on wrong use."
)]
pub struct Run {
    #[command(flatten)]
    execution: ExecutionArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The program and its arguments; `--`, then the inputs
    #[arg(
        value_name = "TARGET",
        required = true,
        num_args = 1..,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    line: Vec<OsString>,
}

/// Wrong use, as afl-showmap tells it.
pub const WRONG_USE: u8 = 3;
const TIMEOUT: u8 = 1;
const CRASH: u8 = 2;
/// Frames of a stack that people are shown; JSON has all.
const MAX_SHOWN: usize = 20;

#[derive(Serialize)]
struct Report {
    target: String,
    /// spawn, fork or persistent
    mode: &'static str,
    /// Ids of an instrumented target.
    ids: usize,
    missing: Vec<String>,
    runs: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    file: String,
    bytes: usize,
    verdict: &'static str,
    /// The exit code, if it exited with another than 0.
    exit: Option<i32>,
    signal: Option<i32>,
    seconds: f64,
    cpu_seconds: Option<f64>,
    /// Ids that were hit; null without instrumentation.
    edges: Option<usize>,
    /// Where it crashed, innermost first.
    stack: Vec<String>,
    /// The first line of a sanitizer's report.
    summary: Option<String>,
    #[serde(skip)]
    text: String,
}

impl Run {
    pub fn run(self) -> Outcome {
        let wrong = |message: String| Failure::Message(WRONG_USE, message);
        let Some(at) = self.line.iter().rposition(|word| word == "--") else {
            return Err(wrong(
                "no inputs\n\nname them behind `--`: wug run TARGET [ARGS] [@@] -- FILE…".into(),
            ));
        };
        let (command, files) = (&self.line[..at], &self.line[at + 1..]);
        let Some(target) = target(command.iter().cloned()) else {
            return Err(wrong("no program: wug run TARGET [ARGS] [@@] -- FILE…".into()));
        };
        let inputs = inputs(files).map_err(wrong)?;
        if inputs.is_empty() {
            return Err(wrong("no inputs behind `--`".into()));
        }
        let name = target.program.to_string_lossy().into_owned();
        let mut options = self.execution.options().map_err(|failure| match failure {
            Failure::Message(_, message) => wrong(message),
            other => other,
        })?;
        options.cpu_time = true;
        let stopped = |error: Error| wrong(explained(&error));
        let mut executor = Executor::new(target, options).map_err(stopped)?;
        let missing: Vec<String> = executor.missing().iter().map(ToString::to_string).collect();
        for missing in &missing {
            terminal::warning(missing);
        }
        let mut worst = 0;
        let mut rows = Vec::new();
        for path in &inputs {
            let input = read(path).map_err(wrong)?;
            let seen = executor.run(&input).map_err(stopped)?;
            worst = worst.max(exit_code(seen.verdict));
            let crashed = seen.verdict.is_crash();
            let mut row = Row::of(path, input.len(), &seen);
            if crashed {
                let crash = executor.examine(&input).map_err(stopped)?;
                row.stack = crash.stack.iter().map(ToString::to_string).collect();
                row.summary = crash.summary;
            }
            if !self.json {
                print(&line(&row, rows.is_empty()))?;
            }
            rows.push(row);
        }
        if self.json {
            let (mode, ids) = (mode(&executor), executor.ids());
            print_json(&Report { target: name, mode, ids, missing, runs: rows })?;
        }
        if worst == 0 { Ok(()) } else { Err(Failure::Quiet(worst)) }
    }
}

impl Row {
    fn of(path: &Path, bytes: usize, seen: &Observation) -> Row {
        let (verdict, exit, signal) = match seen.verdict {
            Verdict::Ok => ("ok", None, None),
            Verdict::Exit(code) => ("exit", Some(code), None),
            Verdict::CrashExit(code) => ("crash", Some(code), None),
            Verdict::Signal(number) => ("crash", None, Some(number)),
            Verdict::Timeout => ("timeout", None, None),
            Verdict::OutOfMemory => ("out of memory", None, None),
        };
        let edges = (!seen.coverage.is_empty()).then(|| coverage::hit_count(seen.coverage));
        Row {
            file: path.to_string_lossy().into_owned(),
            bytes,
            verdict,
            exit,
            signal,
            seconds: seen.wall.as_secs_f64(),
            cpu_seconds: seen.cpu.map(|cpu| cpu.as_secs_f64()),
            edges,
            stack: Vec::new(),
            summary: None,
            text: seen.verdict.to_string(),
        }
    }
}

/// What went wrong, with the way out that this command has.
pub fn explained(error: &Error) -> String {
    match error {
        Error::Start { other_user: true, source, .. }
            if source.kind() == std::io::ErrorKind::PermissionDenied =>
        {
            format!("{error}\n\nmake it readable for everybody, or keep the user with --keep-user")
        }
        error => error.to_string(),
    }
}

fn mode(executor: &Executor) -> &'static str {
    match (executor.has_server(), executor.is_persistent()) {
        (false, _) => "spawn",
        (true, false) => "fork",
        (true, true) => "persistent",
    }
}

fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Timeout => TIMEOUT,
        verdict if verdict.is_crash() => CRASH,
        _ => 0,
    }
}

/// A line of the table, with the head before the first.
fn line(row: &Row, first: bool) -> String {
    let mut out = String::new();
    if first {
        let _ = writeln!(out, "{:<18} {:>11} {:>11} {:>7}  input", "verdict", "time", "cpu", "edges");
    }
    let cpu = row.cpu_seconds.map_or("-".into(), millis);
    let edges = row.edges.map_or("-".into(), |edges| edges.to_string());
    let _ = write!(out, "{:<18} {:>11} {cpu:>11} {edges:>7}  {}", row.text, millis(row.seconds), row.file);
    if let Some(summary) = &row.summary {
        let _ = write!(out, "\n  {summary}");
    }
    for (number, frame) in row.stack.iter().take(MAX_SHOWN).enumerate() {
        let _ = write!(out, "\n  #{number} {frame}");
    }
    if row.stack.len() > MAX_SHOWN {
        let _ = write!(out, "\n  … {} more", row.stack.len() - MAX_SHOWN);
    }
    out
}

fn millis(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

/// The files, with folders replaced by what is in them.
fn inputs(files: &[OsString]) -> Result<Vec<PathBuf>, String> {
    let mut out = Vec::new();
    for file in files {
        let path = PathBuf::from(file);
        if !path.is_dir() {
            out.push(path);
            continue;
        }
        let entries = path.read_dir().map_err(|error| cannot_read(&path, &error))?;
        let mut inside = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| cannot_read(&path, &error))?.path();
            if entry.is_file() {
                inside.push(entry);
            }
        }
        inside.sort();
        out.extend(inside);
    }
    Ok(out)
}
