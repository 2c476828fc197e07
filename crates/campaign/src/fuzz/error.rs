//! Errors that end a campaign.

use std::fmt;

/// Why a campaign ends before its time.
#[derive(Debug)]
pub enum Error {
    /// The target cannot be run.
    Executor(wug_target::Error),
    /// The folder cannot be written or read.
    Folder(wug_folder::Error),
    /// There is nothing to start with.
    NoInput(String),
    /// The target does not tell what it reaches.
    NotInstrumented(String),
    /// The target has a runtime, and does not tell what it reaches.
    TellsNothing(String),
    /// The target does not tell what it compares.
    NotTraced(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Executor(error) => write!(f, "{error}"),
            Error::Folder(error) => write!(f, "{error}"),
            Error::NoInput(why) => f.write_str(why),
            Error::NotInstrumented(program) => write!(
                f,
                "`{program}` is not instrumented, so nothing tells what inputs reach in it: build it with \
                 `wug cc` or AFL++, or fuzz it as it is with -n"
            ),
            Error::TellsNothing(program) => write!(
                f,
                "`{program}` tells nothing of what inputs reach in it: none of its sources was compiled \
                 with `wug cc`, or another version of wug did so; build it again, or fuzz it as it is with -n"
            ),
            Error::NotTraced(program) => write!(
                f,
                "`{program}` is no traced build, so it does not tell what it compares: build it with \
                 `wug cc --wug-traced`, parser included"
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<wug_target::Error> for Error {
    fn from(error: wug_target::Error) -> Error {
        Error::Executor(error)
    }
}

impl From<wug_folder::Error> for Error {
    fn from(error: wug_folder::Error) -> Error {
        Error::Folder(error)
    }
}
