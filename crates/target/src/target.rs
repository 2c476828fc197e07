//! What to run, and how.

use super::confine::Confinement;
use super::end::End;
use super::error::Error;
use super::fork::Fork;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wug_files::regular;
use wug_runtime::abi;

/// A program with its arguments. `@@` in an argument stands for the path of
/// the input; without one, inputs come on standard input.
#[derive(Clone, Debug)]
pub struct Target {
    /// A path, or a name to be searched in `PATH`.
    pub program: OsString,
    /// Without the program itself.
    pub arguments: Vec<OsString>,
    /// Set for the target alone, over what this process has.
    pub environment: Vec<(OsString, OsString)>,
}

/// How a target is driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// By its fork server if it has one, else plainly.
    #[default]
    Auto,
    /// A new process for each run.
    Spawn,
    /// By its fork server; an error if there is none.
    Server,
}

/// What becomes of a target's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// It is dropped.
    #[default]
    Discard,
    /// It goes where that of this process goes.
    Inherit,
    /// It is kept up to this many bytes and dropped from there on. Only
    /// plain runs can: a fork server's children share one pipe.
    Capture(usize),
    /// It goes to a file in memory, emptied before each run, and is kept up to
    /// this many bytes: of any kind of run.
    Record(usize),
}

/// How much a traced build may log in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Events, mostly comparisons: the last ones are kept.
    pub events: usize,
    /// Pairs of blocks.
    pub pairs: usize,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { events: 1 << 16, pairs: 1 << 16 }
    }
}

/// Bounds and choices of an executor.
#[derive(Clone, Debug)]
pub struct Options {
    /// For each run.
    pub timeout: Duration,
    /// For a fork server to say its first word.
    pub handshake: Duration,
    /// Bytes of memory that a target may take.
    pub memory: Option<u64>,
    /// How the target is driven.
    pub kind: Kind,
    /// Where a fork server of `wug cc` starts.
    pub fork: Fork,
    /// Speak to a target of `wug cc` as AFL++ does.
    pub as_afl: bool,
    /// A new process for each run, even of a persistent target of `wug cc`.
    pub fresh: bool,
    /// Measure CPU time also where that costs a call per run: in persistent
    /// targets of `wug cc`.
    pub cpu_time: bool,
    /// Log comparisons and pairs of blocks of a traced build.
    pub trace: Option<Trace>,
    /// Have the runtime of `wug cc` write where a run crashes.
    pub record_crashes: bool,
    /// Its output.
    pub output: Output,
    /// Exit codes that count as crashes, besides those of sanitizers.
    pub crash_codes: Vec<i32>,
    /// What keeps it from harm.
    pub confinement: Confinement,
    /// When all runs are to end, also one that is under way.
    pub end: End,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            timeout: Duration::from_millis(1000),
            handshake: Duration::from_secs(10),
            memory: None,
            kind: Kind::Auto,
            fork: Fork::default(),
            as_afl: false,
            fresh: false,
            cpu_time: false,
            trace: None,
            record_crashes: false,
            output: Output::Discard,
            crash_codes: Vec::new(),
            confinement: Confinement::default(),
            end: End::default(),
        }
    }
}

impl Options {
    /// The same for the board of a target.
    pub(crate) fn wants(&self) -> u32 {
        let mut wants = 0;
        if let Some(trace) = self.trace {
            wants |= if trace.events > 0 { abi::WANT_EVENTS } else { 0 };
            wants |= if trace.pairs > 0 { abi::WANT_PAIRS } else { 0 };
        }
        wants |= if self.record_crashes { abi::WANT_CRASH } else { 0 };
        wants |= if self.fresh { abi::WANT_FORK } else { 0 };
        wants | if self.cpu_time { abi::WANT_CPU_TIME } else { 0 }
    }
}

impl Target {
    /// A program without arguments.
    pub fn new(program: impl Into<OsString>) -> Target {
        Target { program: program.into(), arguments: Vec::new(), environment: Vec::new() }
    }

    /// With arguments.
    pub fn arguments<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Target {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// With a variable of the environment.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Target {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Whether it reads a file.
    pub fn reads_file(&self) -> bool {
        self.arguments.iter().any(|argument| find(argument.as_bytes(), b"@@").is_some())
    }

    /// Whether its file was built with `wug cc` or AFL++.
    pub fn is_instrumented(&self) -> bool {
        let traits = self.locate().map(|path| Traits::of(&path, false)).unwrap_or_default();
        traits.native || traits.afl
    }

    /// The file to execute.
    pub fn locate(&self) -> Result<PathBuf, Error> {
        let given = Path::new(&self.program);
        let executable = |path: &Path| {
            fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        };
        if self.program.as_bytes().contains(&b'/') {
            return match fs::metadata(given) {
                Err(_) => Err(Error::NotFound(self.program.clone())),
                Ok(_) if !executable(given) => Err(Error::NotExecutable(given.into())),
                Ok(_) => Ok(given.into()),
            };
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&folders).map(|folder| folder.join(given)).find(|path| executable(path));
        found.ok_or_else(|| Error::NotFound(self.program.clone()))
    }
}

/// What a program's file says about how it was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Built with `wug cc`.
    pub native: bool,
    /// Built with AFL++.
    pub afl: bool,
    /// Of these, those that loop over inputs.
    pub afl_persistent: bool,
    /// Of these, those that say themselves when the fork server starts.
    pub afl_deferred: bool,
    /// Has a sanitizer that reserves more memory than there is.
    pub shadow: bool,
    /// Has any sanitizer with exit codes of its own.
    pub sanitized: bool,
    /// Written in Rust, which has an exit code for panics.
    pub rust: bool,
}

impl Traits {
    /// Looks for the names that the runtimes look up.
    pub fn of(path: &Path, as_afl: bool) -> Traits {
        let Ok(found) = names_in(path) else { return Traits::default() };
        let has = |name: &str| found.contains(name);
        let native = !as_afl && has(abi::ENV_BOARD);
        // What instrumented code calls: the runtime of `wug cc` names the
        // sanitizers as well, in case they are there.
        let calls = ["__asan_version_mismatch_check", "__msan_param_tls", "__tsan_func_entry"];
        let shadow = calls.into_iter().any(has);
        Traits {
            native,
            afl: !native && has(abi::ENV_AFL_MAP),
            afl_persistent: !native && has("##SIG_AFL_PERSISTENT##"),
            afl_deferred: !native && has("##SIG_AFL_DEFER_FORKSRV##"),
            shadow,
            sanitized: shadow || has("liblsan.so") || has("LeakSanitizer"),
            rust: has("RUST_BACKTRACE"),
        }
    }
}

/// Names that tell how a program was built.
const NAMES: [&str; 10] = [
    abi::ENV_BOARD,
    abi::ENV_AFL_MAP,
    "__asan_version_mismatch_check",
    "__msan_param_tls",
    "__tsan_func_entry",
    "##SIG_AFL_PERSISTENT##",
    "##SIG_AFL_DEFER_FORKSRV##",
    "liblsan.so",
    "LeakSanitizer",
    "RUST_BACKTRACE",
];
/// Bytes of a program that are looked through, and how many at a time.
const MAX_PROGRAM: u64 = 4 << 30;
const WINDOW: u64 = 4 << 20;

/// Which of the names are in a file.
fn names_in(path: &Path) -> std::io::Result<HashSet<&'static str>> {
    let mut file = regular::open(path)?.take(MAX_PROGRAM);
    let overlap = NAMES.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut found = HashSet::new();
    let mut bytes = Vec::new();
    loop {
        // A name may stand across the border of two windows.
        let kept = bytes.len().min(overlap);
        bytes.drain(..bytes.len() - kept);
        if (&mut file).take(WINDOW).read_to_end(&mut bytes)? == 0 {
            return Ok(found);
        }
        found.extend(NAMES.iter().filter(|name| find(&bytes, name.as_bytes()).is_some()));
    }
}

/// An argument with the path of the input in it.
pub(crate) fn replaced(argument: &OsStr, path: &OsStr) -> OsString {
    let mut out = Vec::new();
    let mut rest = argument.as_bytes();
    while let Some(at) = find(rest, b"@@") {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(path.as_bytes());
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    OsString::from_vec(out)
}

/// Where a text first occurs.
pub(crate) fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let &first = text.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(text) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stands_wherever_the_marks_do() {
        let check = |argument: &str, expected: &str| {
            assert_eq!(replaced(argument.as_ref(), "/in".as_ref()), expected);
        };
        check("@@", "/in");
        check("--file=@@,@@", "--file=/in,/in");
        check("@", "@");
        check("@@@", "/in@");
        check("", "");
    }
}
