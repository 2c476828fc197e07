//! What can go wrong with an output folder, each with the way out.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a folder cannot be opened, written or read.
#[derive(Debug)]
pub enum Error {
    /// A campaign's name that cannot be the name of a folder that others read.
    BadId(String),
    /// There is something else where a folder must be.
    NotAFolder(PathBuf),
    /// This user may not write there, or nobody may.
    NotWritable {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another campaign runs in this folder.
    Locked {
        /// The folder.
        path: PathBuf,
        /// Who it is, as far as known.
        pid: Option<u32>,
    },
    /// A new campaign would destroy what an old one found.
    AtRisk {
        /// The folder.
        path: PathBuf,
        /// What is there.
        what: String,
    },
    /// There is no campaign to go on with.
    NothingToResume(PathBuf),
    /// No room on the disk, or no quota. Nothing was written: free some and
    /// do the same again.
    Full {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something else failed.
    System {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// Sorts an error of the system: a full disk and missing rights are told
    /// apart from all others.
    pub(crate) fn of(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Error::Full { path, source },
            Some(libc::EACCES | libc::EPERM | libc::EROFS) if doing != READ => {
                Error::NotWritable { path, source }
            }
            Some(libc::ENOTDIR) => Error::NotAFolder(path),
            _ => Error::System { doing, path, source },
        }
    }

    /// Whether the same may succeed once there is room again.
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Full { .. })
    }
}

/// What is said of all that only reads.
pub(crate) const READ: &str = "read";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BadId(id) => write!(
                f,
                "`{id}` cannot name a campaign: use 1 to 32 letters, digits, `_` and `-` (others find its folder by this name)"
            ),
            Error::NotAFolder(path) => {
                write!(f, "`{}` is not a folder: choose another with -o", path.display())
            }
            Error::NotWritable { path, source } => {
                write!(f, "cannot write to `{}`: {source} (choose another folder with -o)", path.display())
            }
            Error::Locked { path, pid } => {
                write!(f, "another campaign runs in `{}`", path.display())?;
                if let Some(pid) = pid {
                    write!(f, " (process {pid})")?;
                }
                write!(f, ": stop it, or choose another folder with -o")
            }
            Error::AtRisk { path, what } => write!(
                f,
                "`{}` holds an old campaign with {what}: go on with it by `-i -` or AFL_AUTORESUME=1, \
                 choose another folder with -o, or remove this one",
                path.display()
            ),
            Error::NothingToResume(path) => {
                write!(f, "there is no campaign in `{}` to go on with: start one with -i DIR", path.display())
            }
            Error::Full { path, source } => write!(f, "no room for `{}`: {source}", path.display()),
            Error::System { doing, path, source } => {
                write!(f, "cannot {doing} `{}`: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::NotWritable { source, .. } | Error::Full { source, .. } | Error::System { source, .. } => {
                Some(source)
            }
            _ => None,
        }
    }
}
