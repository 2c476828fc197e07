//! Where a target crashed: one more run, in a process of its own that is
//! traced, since core files are switched off.
//!
//! In:  an input that makes the target crash.
//! Out: a [`Crash`]: verdict, stack, and what the target wrote. The stack is
//!      that of the sanitizer's report if there is one, else that of the
//!      process when the fatal signal came.
//!
//! Tracing costs a stop for each signal, so it is kept out of ordinary runs.

mod report;
mod site;
mod symbols;
mod trace;
mod unwind;

use super::error::Error;
use super::verdict::Verdict;
use super::warden::Command;
use super::{Executor, sys};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use trace::{News, Tracee};

/// How and where a target crashed.
#[derive(Clone, Debug)]
pub struct Crash {
    /// How the run ended this time: targets may differ from run to run.
    pub verdict: Verdict,
    /// Innermost first; empty if it did not crash or nothing is known.
    pub stack: Vec<Frame>,
    /// The first line of a sanitizer's report.
    pub summary: Option<String>,
    /// What the target wrote, up to a bound.
    pub output: Vec<u8>,
}

/// A function that was under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The file that holds it.
    pub module: String,
    /// Its address, as in that file.
    pub address: u64,
    /// Its name.
    pub function: Option<String>,
    /// The source.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(name) => write!(f, "{name}")?,
            None => write!(f, "{}+{:#x}", self.module, self.address)?,
        }
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}"),
            (Some(file), None) => write!(f, " at {file}"),
            (None, _) if self.function.is_some() => write!(f, " in {}", self.module),
            _ => Ok(()),
        }
    }
}

/// Output that is kept: a report of a sanitizer with all its threads.
const OUTPUT: usize = 1 << 20;
/// Besides the time of a run: symbols are looked up while the target waits.
const SLACK: Duration = Duration::from_secs(5);

impl Executor {
    /// Runs an input once more, to see where the target crashes.
    pub fn examine(&mut self, input: &[u8]) -> Result<Crash, Error> {
        // The fork server would be in the way of a second target.
        self.stop_server()?;
        self.input.put(input)?;
        let started = self.warden.start(Command::OUTPUT | Command::HOLD)?;
        let mut pipe = started.pipes.into_iter().next().map(File::from);
        let mut output = Vec::new();
        let deadline = Instant::now() + self.options.timeout + SLACK;
        let mut stack = Vec::new();
        let mut refused = false;
        let mut tracee = Tracee::attach(started.outer_pid, self.options.memory.is_some());
        let mut timeout = false;
        let mut ended = None;
        // Until the warden tells of the end; what is traced ends before.
        while ended.is_none() {
            let mut idle = true;
            match tracee.as_mut().map(|tracee| tracee.next()) {
                Ok(Some(News::Fatal)) => {
                    idle = false;
                    if let Ok(tracee) = &mut tracee {
                        stack = tracee.stack();
                        tracee.resume();
                    }
                }
                Ok(Some(News::Other)) => idle = false,
                Ok(Some(News::Refused)) => {
                    idle = false;
                    refused = true;
                }
                Ok(Some(News::Gone)) => {
                    tracee = Err(std::io::ErrorKind::NotFound.into());
                    idle = false;
                }
                Ok(None) | Err(_) => {}
            }
            if let Some(file) = &mut pipe
                && matches!(sys::readable([file.as_raw_fd()], Duration::ZERO), Ok(Some(_)))
            {
                idle = false;
                if !keep(file, &mut output) {
                    pipe = None;
                }
            }
            if !timeout && Instant::now() > deadline {
                timeout = true;
                self.warden.request_kill()?;
            }
            let wait = if idle { Duration::from_millis(1) } else { Duration::ZERO };
            ended = self.warden.ended(wait)?;
            if ended.is_none() && Instant::now() > deadline + SLACK * 4 {
                self.warden.kill_all()?;
                break;
            }
        }
        while pipe.as_mut().is_some_and(|file| keep(file, &mut output)) {}
        self.take_records();
        self.workplace.tidy().map_err(Error::system("clean the scratch folder"))?;
        let verdict = match ended {
            _ if timeout => Verdict::Timeout,
            Some(ended) => self.verdict(ended.status),
            None => Verdict::Timeout,
        };
        let report = report::read(&output);
        let refused = refused || report.as_ref().is_some_and(|report| report.memory);
        let verdict = if verdict.is_crash() && refused { Verdict::OutOfMemory } else { verdict };
        if let Some(report) = &report
            && !report.stack.is_empty()
        {
            stack = symbols::resolve(&report.stack);
        }
        if !verdict.is_crash() {
            stack.clear();
        }
        let summary = report.map(|report| report.summary);
        Ok(Crash { verdict, stack, summary, output })
    }
}

/// Takes in output up to the bound; false at its end.
fn keep(pipe: &mut File, output: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 16 << 10];
    match pipe.read(&mut buffer) {
        Ok(0) => false,
        Ok(got) => {
            let room = OUTPUT.saturating_sub(output.len());
            output.extend_from_slice(&buffer[..got.min(room)]);
            true
        }
        Err(error) => error.kind() == std::io::ErrorKind::Interrupted,
    }
}
