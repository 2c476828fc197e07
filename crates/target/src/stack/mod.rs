//! Where a target crashed: one more run, in a process of its own that is
//! traced, since core files are switched off.
//!
//! In:  an input that makes the target crash.
//! Out: a [`Crash`]: verdict, stack, and what the target wrote. The stack is
//!      that of the sanitizer's report if there is one, else that of the
//!      process when the fatal signal came. [`Crash::site`] tells crashes
//!      apart.
//!
//! Tracing costs a stop for each signal, so it is kept out of ordinary runs.
//! Files of the target are read once ([`Modules`]), so a look costs little
//! more than a process of its own.

mod address;
pub(crate) mod maps;
pub(crate) mod message;
pub(crate) mod module;
mod ranged;
mod record;
pub(crate) mod report;
mod site;
pub(crate) mod symbols;
mod system;
pub(super) mod trace;
pub(crate) mod unwind;

pub(crate) use address::symbol_address;
pub use message::Said;
pub use record::Record;
pub use site::{FRAMES as SITE_FRAMES, Site};

use super::error::Error;
use super::verdict::Verdict;
use super::warden::Command;
use super::{Executor, sys};
use module::Modules;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use symbols::Lines;
use trace::{News, Tracee};

/// How and where a target crashed.
#[derive(Clone, Debug)]
pub struct Crash {
    /// How the run ended this time: targets may differ from run to run.
    pub verdict: Verdict,
    /// Innermost first; empty if it did not crash or nothing is known.
    pub stack: Vec<Frame>,
    /// Whether the stack was used up.
    pub overflow: bool,
    /// The first line of a sanitizer's report.
    pub summary: Option<String>,
    /// What the sanitizer complains of, the same for all inputs.
    pub kind: Option<String>,
    /// The text of a failed assertion, a panic or an exception, without
    /// numbers that differ from input to input.
    pub said: Option<Said>,
    /// What the target wrote, up to a bound.
    pub output: Vec<u8>,
    /// The system does not permit to trace the target, so its stack is known
    /// only if a sanitizer reports it.
    pub untraced: bool,
}

impl Crash {
    /// One of which nothing but the verdict is known.
    pub fn of(verdict: Verdict) -> Crash {
        Crash {
            verdict,
            stack: Vec::new(),
            overflow: false,
            summary: None,
            kind: None,
            said: None,
            output: Vec::new(),
            untraced: false,
        }
    }
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
    /// How far into the function it is.
    pub offset: Option<u64>,
    /// Whether it belongs to libc, to the runtime of a language or to a
    /// sanitizer.
    pub system: bool,
    /// Whether that is not known, since the file holds both without names.
    pub mixed: bool,
    /// The source.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// The column there.
    pub column: Option<u32>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(name) => write!(f, "{name}")?,
            None if self.module.is_empty() => write!(f, "{:#x}", self.address)?,
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

/// What looks at crashes share: files that were read.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    modules: Modules,
    lines: Lines,
}

/// Output that is kept: a report of a sanitizer with all its threads.
const OUTPUT: usize = 1 << 20;
/// Besides the time of a run: symbols are looked up while the target waits.
const SLACK: Duration = Duration::from_secs(5);
/// Stacks that are taken: programs may handle signals that would be fatal,
/// any number of them. The last ones are of interest.
const MAX_STACKS: usize = 1000;

impl Executor {
    /// Runs an input once more, to see where the target crashes. The stack
    /// has the source's lines, and functions that were inlined.
    pub fn examine(&mut self, input: &[u8]) -> Result<Crash, Error> {
        let mut crash = self.locate_crash(input)?;
        self.explain(&mut crash);
        Ok(crash)
    }

    /// Adds lines and functions that were inlined to a stack. This reads the
    /// debug information of the files, which is slow.
    pub fn explain(&mut self, crash: &mut Crash) {
        crash.stack = self.knowledge.lines.explain(&crash.stack);
    }

    /// How many files of targets were read to find out where they crash.
    pub fn files_read(&self) -> u64 {
        self.knowledge.modules.reads
    }

    /// As [`Executor::examine`], but with names and offsets only: enough for
    /// [`Crash::site`].
    pub fn locate_crash(&mut self, input: &[u8]) -> Result<Crash, Error> {
        // The fork server would be in the way of a second target.
        self.stop_server()?;
        self.without_handler();
        self.input.put(input)?;
        let started = self.warden.start(Command::OUTPUT | Command::HOLD)?;
        let mut pipe = started.pipes.into_iter().next().map(File::from);
        let mut output = Vec::new();
        let deadline = Instant::now() + self.options.timeout + SLACK;
        let (mut stack, mut overflow, mut stacks) = (Vec::new(), false, 0);
        let mut refused = false;
        let mut tracee = Tracee::attach(started.outer_pid, self.options.memory.is_some());
        let denied = std::io::ErrorKind::PermissionDenied;
        let untraced = tracee.as_ref().err().is_some_and(|error| error.kind() == denied);
        let mut timeout = false;
        let mut ended = None;
        // Until the warden tells of the end; what is traced ends before.
        while ended.is_none() {
            let mut idle = true;
            match tracee.as_mut().map(|tracee| tracee.next()) {
                Ok(Some(News::Fatal)) => {
                    idle = false;
                    if let Ok(tracee) = &mut tracee {
                        stacks += 1;
                        if stacks <= MAX_STACKS {
                            (stack, overflow) = tracee.stack(&mut self.knowledge.modules);
                        }
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
            if !timeout && (Instant::now() > deadline || self.options.end.has_come()) {
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
        self.tidy(1)?;
        let verdict = match ended {
            _ if timeout => Verdict::Timeout,
            Some(ended) => self.verdict(ended.status),
            None => Verdict::Timeout,
        };
        let report = report::read(&output);
        let refused = refused || report.as_ref().is_some_and(|report| report.memory);
        let verdict = if verdict.is_crash() && refused { Verdict::OutOfMemory } else { verdict };
        let mut crash = Crash { stack, overflow, said: message::read(&output), ..Crash::of(verdict) };
        if let Some(report) = report {
            if !report.stack.is_empty() {
                crash.stack = symbols::name(report.stack, &mut |path| self.knowledge.modules.get(path));
            }
            crash.overflow |= report.overflow;
            (crash.kind, crash.summary) = (Some(report.kind), Some(report.summary));
        }
        if !verdict.is_crash() {
            crash.stack.clear();
        }
        (crash.output, crash.untraced) = (output, untraced);
        Ok(crash)
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
