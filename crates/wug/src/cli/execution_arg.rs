//! Options of all commands that run a target: limits, confinement, and the
//! environment variables that users of AFL++ know.

use crate::cli::{Failure, size, terminal};
use clap::Args;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;
use wug_target::{Confinement, Executor, Fork, ForkAt, ForkPoint, Options, Output, Target};

/// How a target is run.
#[derive(Args)]
pub struct ExecutionArg {
    /// Time limit, or the most (MS+) [1000+; explore: 200]
    #[arg(short = 't', long, value_parser = millis, value_name = "MS")]
    timeout: Option<Limit>,
    /// Memory: MB, or with K, M or G [default: none]
    #[arg(short = 'm', long, default_value = "none", hide_default_value = true, value_parser = memory)]
    #[arg(value_name = "MB")]
    memory: Memory,
    /// Fork at main, input or a function [default: input]
    #[arg(long, value_name = "WHERE")]
    fork_at: Option<ForkAt>,
    /// Do not confine the target at all
    #[arg(long)]
    no_confinement: bool,
    /// Confine without namespaces
    #[arg(long)]
    no_namespaces: bool,
    /// Confine without Landlock
    #[arg(long)]
    no_landlock: bool,
    /// Confine without a filter of system calls
    #[arg(long)]
    no_seccomp: bool,
    /// Confine without limits on processes and files
    #[arg(long)]
    no_limits: bool,
    /// Run as this user, even if it is root
    #[arg(long)]
    keep_user: bool,
    /// File or folder that the target may read; repeatable
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<PathBuf>,
    /// The same for reading and writing
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
}

/// Bytes, or as much as there is.
#[derive(Clone, Copy)]
struct Memory(Option<u64>);

/// A time limit, or with `+` the longest that it may be, as afl-fuzz has it.
#[derive(Clone, Copy)]
struct Limit {
    time: Duration,
    follows: bool,
}

fn millis(text: &str) -> Result<Limit, String> {
    let number = text.strip_suffix('+').unwrap_or(text).parse::<u64>();
    match number {
        Ok(millis @ 1..=86_400_000) => {
            Ok(Limit { time: Duration::from_millis(millis), follows: text.ends_with('+') })
        }
        _ => Err("write a time in milliseconds, from 1 to 86400000".into()),
    }
}

fn memory(text: &str) -> Result<Memory, String> {
    // As afl-fuzz has it, 0 is no limit.
    if text == "none" || text == "0" {
        return Ok(Memory(None));
    }
    let bytes = match text.parse::<u64>() {
        Ok(megabytes) => megabytes.checked_mul(1 << 20).ok_or("this size is too large")?,
        Err(_) => size::parse(text)?,
    };
    if bytes < 1 << 20 { Err("a program needs at least 1 MB".into()) } else { Ok(Memory(Some(bytes))) }
}

impl ExecutionArg {
    /// The time for each run, if it is given.
    pub fn timeout_or(&self, usual: Duration) -> Duration {
        self.timeout.map_or(usual, |limit| limit.time)
    }

    /// Whether the time for each run is given, and stays as it is.
    pub fn has_fixed_timeout(&self) -> bool {
        self.timeout.is_some_and(|limit| !limit.follows)
    }

    /// Whether it is said where the fork server starts.
    pub fn has_fork_at(&self) -> bool {
        self.fork_at.is_some()
    }

    /// The options of an executor.
    pub fn options(&self) -> Result<Options, Failure> {
        let all = !self.no_confinement;
        let confinement = Confinement {
            namespaces: all && !self.no_namespaces,
            landlock: all && !self.no_landlock,
            seccomp: all && !self.no_seccomp,
            limits: all && !self.no_limits,
            user: all && !self.keep_user,
            allow_read: self.allow_read.clone(),
            allow_write: self.allow_write.clone(),
            ..Confinement::default()
        };
        for (flag, paths) in [("read", &self.allow_read), ("write", &self.allow_write)] {
            if let Some(path) = paths.iter().find(|path| !path.exists()) {
                return Err(Failure::usage(format!("--allow-{flag}: there is no `{}`", path.display())));
            }
        }
        let usual = Options::default();
        let timeout = self.timeout_or(usual.timeout);
        let fork = Fork::at(self.fork_at.clone().unwrap_or(ForkAt::Input));
        let mut options = Options { timeout, memory: self.memory.0, confinement, fork, ..usual };
        if let Some(millis) = number("AFL_FORKSRV_INIT_TMOUT")? {
            options.handshake = Duration::from_millis(millis);
        }
        if let Some(code) = number("AFL_CRASH_EXITCODE")? {
            options.crash_codes.push(code);
        }
        if std::env::var_os("AFL_DEBUG_CHILD").is_some() {
            options.output = Output::Inherit;
        }
        Ok(options)
    }
}

/// Says where the fork server starts, if that is not before `main`, or why it
/// is.
pub fn tell_fork_point(executor: &Executor) {
    let point = executor.fork_point();
    if *point != ForkPoint::Main {
        terminal::say(&format!("note: {}\n", terminal::clean_line(&point.to_string())));
    }
}

/// Says which paths a target misses since it is confined, and the way out.
pub fn tell_unseen(target: &Target, options: &Options, input: &[u8]) {
    for path in wug_target::unseen(target, options, input) {
        terminal::warning(&path.to_string());
    }
}

/// A target from its command line and the environment.
pub fn target(mut command: impl Iterator<Item = OsString>) -> Option<Target> {
    let mut target = Target::new(command.next()?).arguments(command);
    if let Some(list) = std::env::var_os("AFL_PRELOAD") {
        target = target.variable("LD_PRELOAD", list);
    }
    if let Some(list) = std::env::var_os("AFL_TARGET_ENV") {
        for entry in list.as_bytes().split(|byte| byte.is_ascii_whitespace()) {
            if let Some(at) = entry.iter().position(|byte| *byte == b'=') {
                let name = OsStr::from_bytes(&entry[..at]);
                target = target.variable(name, OsString::from_vec(entry[at + 1..].to_vec()));
            }
        }
    }
    Some(target)
}

/// A number from the environment.
pub fn number<T: std::str::FromStr>(name: &str) -> Result<Option<T>, Failure> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed
        .map(Some)
        .ok_or_else(|| Failure::usage(format!("{name} is not a number: {}", value.to_string_lossy())))
}
