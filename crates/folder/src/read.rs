//! Reading inputs of any origin: bounded, and regular files only.

use super::{EntryId, Error, Name, Origin, error::READ, old};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use wug_files::regular;

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

/// Folders inside of folders of seeds that are looked into, and files in all.
const DEEPEST: usize = 16;
const MOST_FILES: usize = 1 << 20;

/// The inputs in a folder of seeds and the folders inside it, in the order of
/// their paths. What is hidden is passed over; links to folders are not
/// followed.
pub fn inputs(folder: &Path) -> Result<Inputs, Error> {
    if !folder.exists() {
        // A folder that is not there is a mistake here, not an empty one.
        return Err(Error::of(READ, folder)(io::ErrorKind::NotFound.into()));
    }
    let mut files = old::files(folder)?;
    let mut inside = old::folders(folder)?;
    for _ in 0..DEEPEST {
        let mut further = Vec::new();
        for folder in inside {
            // One that cannot be read is no reason to go without the others.
            files.extend(old::files(&folder).unwrap_or_default());
            further.extend(old::folders(&folder).unwrap_or_default());
        }
        inside = further;
        if inside.is_empty() || files.len() > MOST_FILES {
            break;
        }
    }
    files.truncate(MOST_FILES);
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
    regular::open(path)
        .and_then(|file| file.take(MAX_INPUT).read_to_end(&mut bytes))
        .map_err(Error::of(READ, path))?;
    Ok(bytes)
}

/// Why a file cannot be an input.
pub(super) fn why_not(path: &Path) -> Option<String> {
    match path.metadata() {
        Err(error) => Some(error.to_string()),
        Ok(data) if data.len() > MAX_INPUT => Some(too_large(data.len())),
        Ok(data) => regular::expect_regular(&data).err().map(|error| error.to_string()),
    }
}

pub(super) fn too_large(size: u64) -> String {
    format!("it has {size} bytes, inputs have at most {MAX_INPUT}")
}

/// The origin that a name tells.
pub(super) fn origin(name: &OsStr) -> Origin {
    name.to_str().and_then(Name::parse).map(|name| name.origin).unwrap_or_default()
}
