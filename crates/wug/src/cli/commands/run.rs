//! `wug run`: what a program does with inputs.

use super::{cannot_read, print, print_json, read};
use crate::cli::execution_arg::{ExecutionArg, target, tell_fork_point, tell_unseen};
use crate::cli::terminal::{self, clean_line};
use crate::cli::{Failure, Outcome};
use clap::Args;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wug_target::{Error, Executor, Fork, Observation, SITE_FRAMES, Verdict, coverage};

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

/// Inputs from which on it is worth to look where the fork server can start.
const MANY: usize = 100;
/// Wrong use, as afl-showmap tells it.
pub const WRONG_USE: u8 = 3;
const TIMEOUT: u8 = 1;
const CRASH: u8 = 2;
/// Said once where stacks are not to be had.
const UNTRACED: &str = "ptrace is not permitted here, so stacks are known only from sanitizers: permit it \
    (docker: --cap-add SYS_PTRACE; kernel.yama.ptrace_scope below 3)";
/// Frames of a stack that people are shown; JSON has all.
const MAX_SHOWN: usize = 20;
/// The same for lines of what it wrote.
const MAX_LINES: usize = 12;

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
    /// By what a campaign tells crashes apart.
    site: Option<String>,
    /// What it wrote when it crashed, on standard output and error.
    output: String,
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
        if inputs.len() < MANY && !self.execution.has_fork_at() {
            options.fork = Fork::default();
        }
        let stopped = |error: Error| wrong(explained(&error));
        let first = inputs.first().and_then(|path| read(path).ok()).unwrap_or_default();
        let mut executor = Executor::new(target.clone(), options.clone()).map_err(|error| {
            tell_unseen(&target, &options, &first);
            stopped(error)
        })?;
        let missing: Vec<String> = executor.missing().iter().map(ToString::to_string).collect();
        for missing in &missing {
            terminal::warning(missing);
        }
        executor.prove(&[&first]).map_err(stopped)?;
        tell_fork_point(&executor);
        let mut worst = 0;
        let (mut told, mut looked) = (false, false);
        let mut rows = Vec::new();
        for path in &inputs {
            let input = read(path).map_err(wrong)?;
            let seen = executor.run(&input).map_err(stopped)?;
            worst = worst.max(exit_code(seen.verdict));
            let crashed = seen.verdict.is_crash();
            let failed = !matches!(seen.verdict, Verdict::Ok | Verdict::Timeout);
            let mut row = Row::of(path, input.len(), &seen);
            if failed && !std::mem::replace(&mut looked, true) {
                tell_unseen(&target, &options, &input);
            }
            if crashed {
                let mut crash = executor.locate_crash(&input).map_err(stopped)?;
                row.site = Some(crash.site(SITE_FRAMES).to_string());
                executor.explain(&mut crash);
                row.stack = crash.stack.iter().map(ToString::to_string).collect();
                row.summary = crash.summary;
                row.output = String::from_utf8_lossy(&crash.output).into_owned();
                if crash.untraced && !std::mem::replace(&mut told, true) {
                    terminal::warning(UNTRACED);
                }
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
            site: None,
            output: String::new(),
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
    let _ = write!(
        out,
        "{:<18} {:>11} {cpu:>11} {edges:>7}  {}",
        row.text,
        millis(row.seconds),
        clean_line(&row.file)
    );
    for said in [&row.summary, &row.site].into_iter().flatten() {
        let _ = write!(out, "\n  {}", clean_line(said));
    }
    for (number, frame) in row.stack.iter().take(MAX_SHOWN).enumerate() {
        let _ = write!(out, "\n  #{number} {}", clean_line(frame));
    }
    if row.stack.len() > MAX_SHOWN {
        let _ = write!(out, "\n  … {} more", row.stack.len() - MAX_SHOWN);
    }
    let mut written = row.output.lines().filter(|line| !line.trim().is_empty());
    for line in written.by_ref().take(MAX_LINES) {
        let _ = write!(out, "\n  | {}", clean_line(line));
    }
    let more = written.count();
    if more > 0 {
        let _ = write!(out, "\n  | … {more} more lines; --json has all");
    }
    out
}

fn millis(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

/// Whether a file is what fuzzers write for people into a folder of crashes,
/// which `crashes/*` names as well.
fn is_readme(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    path.file_name().is_some_and(|name| name == "README.txt")
        && folder.as_encoded_bytes().starts_with(b"crashes")
}

fn hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// The files, with folders replaced by what is in them.
fn inputs(files: &[OsString]) -> Result<Vec<PathBuf>, String> {
    let mut out = Vec::new();
    for file in files {
        let path = PathBuf::from(file);
        if !path.is_dir() {
            match files.len() > 1 && is_readme(&path) {
                true => terminal::say(&format!("note: {} is no input: it is left out\n", path.display())),
                false => out.push(path),
            }
            continue;
        }
        let entries = path.read_dir().map_err(|error| cannot_read(&path, &error))?;
        let mut inside = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| cannot_read(&path, &error))?.path();
            // What fuzzers put beside what they find.
            let other = entry.file_name().is_some_and(|name| name == "README.txt" || hidden(name));
            if entry.is_file() && !other {
                inside.push(entry);
            }
        }
        inside.sort();
        out.extend(inside);
    }
    Ok(out)
}
