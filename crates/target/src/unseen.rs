//! Paths that a target looks for and is not shown, although they are there.
//!
//! In:  a target and an input.
//! Out: the paths, found by one run whose system calls are watched. A program
//!      whose file of settings is hidden by its confinement fails for a
//!      reason that its own messages do not tell.

use super::Executor;
use super::confine::view::absolute;
use super::error::Error;
use super::stack::trace::{News, Tracee};
use super::target::{Kind, Options, Output, Target};
use super::warden::Command;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Paths that are told.
const MOST: usize = 5;
/// A run that is watched is slow, and more of it tells no more.
const LONGEST: Duration = Duration::from_secs(2);
/// What programs ask about the machine, and do without.
const MACHINE: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A path that is there and not shown to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen(pub PathBuf);

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.display();
        write!(f, "the target looks for `{path}`, which is there but not shown to it: ")?;
        write!(f, "--allow-read '{path}' shows it")
    }
}

/// What a target misses; nothing where that cannot be found out.
pub fn unseen(target: &Target, options: &Options, input: &[u8]) -> Vec<Unseen> {
    let confinement = &options.confinement;
    if !confinement.namespaces && !confinement.landlock {
        return Vec::new();
    }
    let options = Options { kind: Kind::Spawn, output: Output::Discard, trace: None, ..options.clone() };
    let watched = Executor::new(target.clone(), options).and_then(|mut executor| executor.watch_paths(input));
    let mut found: Vec<PathBuf> = Vec::new();
    for path in watched.unwrap_or_default() {
        let path = absolute(&path);
        let known = found.contains(&path) || MACHINE.iter().any(|place| path.starts_with(place));
        if !known && found.len() < MOST && path.parent().is_some() && path.symlink_metadata().is_ok() {
            found.push(path);
        }
    }
    found.into_iter().map(Unseen).collect()
}

impl Executor {
    /// Paths that were not there, or not permitted, in the order in which
    /// they were asked for.
    fn watch_paths(&mut self, input: &[u8]) -> Result<Vec<PathBuf>, Error> {
        self.input.put(input)?;
        let started = self.warden.start(Command::HOLD)?;
        let mut tracee = Tracee::attach(started.outer_pid, true).ok();
        if let Some(tracee) = &mut tracee {
            tracee.watch_paths();
        }
        let until = Instant::now() + LONGEST.min(self.options.timeout);
        let mut asked = false;
        // What is traced ends only after its tracer has seen that.
        loop {
            let news = tracee.as_mut().and_then(Tracee::next);
            if let (Some(News::Fatal), Some(tracee)) = (&news, &mut tracee) {
                tracee.resume();
            }
            let wait = if news.is_some() { Duration::ZERO } else { Duration::from_millis(1) };
            if self.warden.ended(wait)?.is_some() {
                break;
            }
            if !asked && (Instant::now() > until || self.options.end.has_come()) {
                asked = true;
                self.warden.request_kill()?;
            }
            if asked && Instant::now() > until + LONGEST * 5 {
                return Ok(Vec::new());
            }
        }
        self.tidy(1)?;
        let paths = tracee.map(Tracee::missed).unwrap_or_default();
        // The loader tries folders one after the other.
        let tried = self.job.environment.iter().find_map(|entry| {
            let list = entry.to_bytes().strip_prefix(b"LD_LIBRARY_PATH=")?;
            Some(std::env::split_paths(OsStr::from_bytes(list)).collect::<Vec<_>>())
        });
        let tried = tried.unwrap_or_default();
        let shown = &self.job.shown;
        let missed = |path: &PathBuf| {
            let path = path as &Path;
            let leads_there = |file: &PathBuf| file.starts_with(path);
            !shown.program.starts_with(path)
                && !shown.libraries.iter().any(leads_there)
                && !tried.iter().any(|folder| folder == path)
        };
        Ok(paths.into_iter().filter(missed).collect())
    }
}
