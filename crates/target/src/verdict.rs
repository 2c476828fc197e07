//! How a run ended.

use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It exited with 0, or a persistent harness asked for the next input.
    Ok,
    /// It exited with another code.
    Exit(i32),
    /// It exited with a code that stands for a crash: a sanitizer's, or one
    /// that was named beforehand.
    CrashExit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It was still running when its time was up.
    Timeout,
    /// It ended because it was refused memory.
    OutOfMemory,
}

impl Verdict {
    /// From what `wait` says, and the exit codes that are crashes.
    pub(crate) fn of_status(status: i32, crash_codes: &[i32]) -> Verdict {
        if libc::WIFSIGNALED(status) {
            return Verdict::Signal(libc::WTERMSIG(status));
        }
        match libc::WEXITSTATUS(status) {
            // A stopped child: the AFL++ way to ask for the next input.
            _ if libc::WIFSTOPPED(status) => Verdict::Ok,
            code if crash_codes.contains(&code) => Verdict::CrashExit(code),
            0 => Verdict::Ok,
            code => Verdict::Exit(code),
        }
    }

    /// Whether the program failed in a way that it did not plan.
    pub fn is_crash(self) -> bool {
        matches!(self, Verdict::Signal(_) | Verdict::CrashExit(_) | Verdict::OutOfMemory)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Ok => f.write_str("ok"),
            Verdict::Exit(code) => write!(f, "exit {code}"),
            Verdict::CrashExit(code) => write!(f, "crash, exit {code}"),
            Verdict::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "crash, {name}"),
                None => write!(f, "crash, signal {number}"),
            },
            Verdict::Timeout => f.write_str("timeout"),
            Verdict::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

/// The name of a signal that programs die of.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}
