//! Why the executor itself cannot go on. What targets do is never an error.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

/// Why the executor itself cannot go on.
#[derive(Debug)]
pub enum Error {
    /// No such program.
    NotFound(OsString),
    /// The file is no program that this user may execute.
    NotExecutable(PathBuf),
    /// The program could not be started.
    Start {
        /// Which step failed.
        doing: &'static str,
        /// Whether it was to run as another user.
        other_user: bool,
        /// What the system says.
        source: io::Error,
    },
    /// The fork server did not say a word in time.
    Silent(Duration),
    /// The fork server said something that is no protocol.
    Protocol(String),
    /// The fork server ended again and again.
    Lost {
        /// How many times in a row.
        times: u32,
    },
    /// The target claims to have more ids than there can be.
    TooManyIds {
        /// How many.
        ids: u64,
        /// How many there can be.
        limit: u64,
    },
    /// The target cannot be given an input of this length.
    TooLong {
        /// Its length.
        length: usize,
        /// The longest possible.
        limit: usize,
    },
    /// The target does not start with so many bytes of memory, but with more.
    Memory(u64),
    /// The program has no function of this name.
    NoSymbol(String),
    /// All runs are to end: see [`super::End`].
    Ended,
    /// Something else failed.
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// What a call gave; nothing if it was cut short by the end of all runs.
    pub fn unless_ended<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Err(Error::Ended) => Ok(None),
            other => other.map(Some),
        }
    }

    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::System { doing, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotFound(program) => write!(f, "there is no program `{}`", program.to_string_lossy()),
            Error::NotExecutable(path) => write!(f, "`{}` is not executable", path.display()),
            Error::Start { doing, source, other_user } => {
                write!(f, "cannot {doing}: {source}")?;
                let denied = source.kind() == io::ErrorKind::PermissionDenied;
                if *other_user && denied && *doing == "execute the program" {
                    write!(
                        f,
                        " (targets of root run as a user without rights, who must be able to reach the program)"
                    )?;
                }
                Ok(())
            }
            Error::Silent(limit) => {
                write!(f, "the target's fork server did not answer within {} ms", limit.as_millis())
            }
            Error::Protocol(what) => write!(f, "the target's fork server is not understood: {what}"),
            Error::Lost { times } => write!(f, "the target's fork server ended {times} times in a row"),
            Error::TooManyIds { ids, limit } => {
                write!(f, "the target claims a coverage map of {ids} ids: at most {limit} are taken")
            }
            Error::TooLong { length, limit } => {
                write!(f, "an input of {length} bytes is too long: the target takes at most {limit}")
            }
            Error::Memory(limit) => write!(
                f,
                "the target does not start with {} MB of memory, but does without a limit: give it more with \
                 -m MB, or leave -m out",
                limit >> 20
            ),
            Error::NoSymbol(name) => write!(
                f,
                "the program has no function `{name}` at which its fork server could start: names are those of \
                 its symbol table (`nm`), which `strip` removes; `--fork-at input` finds a place by itself"
            ),
            Error::Ended => f.write_str("the time is up"),
            Error::System { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Start { source, .. } | Error::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
