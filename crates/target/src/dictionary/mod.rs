//! Tokens for mutators: from dictionary files, and from the target itself.
//!
//! In:  a file as AFL++ and libFuzzer read it (`file`), a folder with a file
//!      for each token, or a program (`program`).
//! Out: tokens, each once, in the order of the source.

mod file;
mod program;

pub use file::{Mistake, parse, write};
pub use program::{Sections, of_program};

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};
use wug_files::regular;

/// Longest token, in bytes, as with AFL++.
pub const MAX_TOKEN: usize = 128;

/// Most tokens of one source.
pub const MAX_TOKENS: usize = 1 << 16;

/// Largest dictionary file, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Why there is no dictionary.
#[derive(Debug)]
pub enum Error {
    /// It cannot be read.
    Read {
        /// What.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not written as dictionaries are.
    Wrong {
        /// The file.
        path: PathBuf,
        /// Each mistake with its place; the first ones.
        mistakes: Vec<Mistake>,
    },
    /// There is nothing in it.
    Empty(PathBuf),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { path, source } => {
                write!(f, "cannot read the dictionary `{}`: {source}", path.display())
            }
            Error::Wrong { path, mistakes } => {
                for (index, mistake) in mistakes.iter().enumerate() {
                    let Mistake { line, column, message } = mistake;
                    let end = if index + 1 < mistakes.len() { "\n" } else { "" };
                    write!(f, "{}:{line}:{column}: {message}{end}", path.display())?;
                }
                Ok(())
            }
            Error::Empty(path) => write!(f, "the dictionary `{}` has no tokens", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Reads what `-x` names: a dictionary file, with `@LEVEL` after it tokens up
/// to that level too, or a folder in which each file is a token.
pub fn load(argument: &OsStr) -> Result<Vec<Vec<u8>>, Error> {
    let path = Path::new(argument);
    if path.is_dir() {
        return load_folder(path);
    }
    let (path, level) = if path.exists() { (path, 0) } else { split_level(argument) };
    let text = regular::read_named(path, MAX_FILE)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let tokens = parse(&text, level).map_err(|mistakes| Error::Wrong { path: path.to_owned(), mistakes })?;
    if tokens.is_empty() { Err(Error::Empty(path.to_owned())) } else { Ok(tokens) }
}

/// `FILE@2` is level 2.
fn split_level(argument: &OsStr) -> (&Path, u32) {
    let bytes = argument.as_bytes();
    let at = bytes.iter().rposition(|&byte| byte == b'@');
    let level = at.and_then(|at| std::str::from_utf8(&bytes[at + 1..]).ok()?.parse().ok());
    match (at, level) {
        (Some(at), Some(level)) => (Path::new(OsStr::from_bytes(&bytes[..at])), level),
        _ => (Path::new(argument), 0),
    }
}

fn load_folder(folder: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Read { path, source }
    };
    let entries = fs::read_dir(folder).map_err(wrong(folder))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(wrong(folder))?;
    paths.retain(|path| path.is_file());
    paths.sort();
    let mut tokens = Tokens::default();
    for path in paths.iter().take(MAX_TOKENS) {
        let token = regular::read(path, MAX_TOKEN as u64).map_err(wrong(path))?;
        if !token.is_empty() {
            tokens.add(&token);
        }
    }
    if tokens.list.is_empty() { Err(Error::Empty(folder.to_owned())) } else { Ok(tokens.list) }
}

/// Tokens, each once.
#[derive(Default)]
struct Tokens {
    list: Vec<Vec<u8>>,
    seen: HashSet<Vec<u8>>,
}

impl Tokens {
    fn add(&mut self, token: &[u8]) {
        if self.list.len() < MAX_TOKENS && self.seen.insert(token.to_owned()) {
            self.list.push(token.to_owned());
        }
    }
}
