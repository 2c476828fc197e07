//! Reading inputs of any origin: bounded, and plain files only.

use super::{EntryId, Error, Name, Origin, error::READ, old};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Larger inputs are left out, in bytes: 1 MiB, as with AFL++.
pub const MAX_INPUT: u64 = 1 << 20;

/// An entry of the queue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number.
    pub id: EntryId,
    /// Its file.
    pub path: PathBuf,
    /// Where it came from, as far as its name tells.
    pub origin: Origin,
}

impl Entry {
    /// The input.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        read(&self.path)
    }
}

/// A file that is not taken for an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The file.
    pub path: PathBuf,
    /// The reason, for people.
    pub why: String,
}

/// Files of a folder that a user gives as inputs.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Those that can be inputs, by name.
    pub files: Vec<PathBuf>,
    /// Those that cannot.
    pub left_out: Vec<LeftOut>,
}

/// The inputs in a folder of seeds, in the order of their names. Hidden
/// files and folders inside are passed over.
pub fn inputs(folder: &Path) -> Result<Inputs, Error> {
    if !folder.exists() {
        // A folder that is not there is a mistake here, not an empty one.
        return Err(Error::of(READ, folder)(io::ErrorKind::NotFound.into()));
    }
    let mut files = old::files(folder)?;
    files.sort();
    let mut inputs = Inputs::default();
    for path in files {
        match why_not(&path) {
            None => inputs.files.push(path),
            Some(why) => inputs.left_out.push(LeftOut { path, why }),
        }
    }
    Ok(inputs)
}

/// Reads an input, at most [`MAX_INPUT`] of it.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    open(path)
        .and_then(|file| file.take(MAX_INPUT).read_to_end(&mut bytes))
        .map_err(Error::of(READ, path))?;
    Ok(bytes)
}

/// Opens a file that somebody else may have put there: one that blocks who
/// opens it does not block us.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    Ok(file)
}

/// Why a file cannot be an input.
pub(super) fn why_not(path: &Path) -> Option<String> {
    match path.metadata() {
        Err(error) => Some(error.to_string()),
        Ok(data) if !data.is_file() => Some("it is not a plain file".into()),
        Ok(data) if data.len() > MAX_INPUT => Some(too_large(data.len())),
        Ok(_) => None,
    }
}

pub(super) fn too_large(size: u64) -> String {
    format!("it has {size} bytes, inputs have at most {MAX_INPUT}")
}

/// The origin that a name tells.
pub(super) fn origin(name: &OsStr) -> Origin {
    name.to_str().and_then(Name::parse).map(|name| name.origin).unwrap_or_default()
}
