//! Where the result goes, and what is shown on the way.

use crate::cli::Failure;
use crate::cli::terminal::{self};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wug_files::reason;

/// The smallest input so far is saved this often at most.
const SAVE: Duration = Duration::from_secs(1);
const SHOW: Duration = Duration::from_millis(100);

/// A file that is replaced as a whole, or standard output.
pub struct Output {
    path: Option<PathBuf>,
    saved: Instant,
}

impl Output {
    /// Refuses to write over the input.
    pub fn new(path: Option<&Path>, input: &Path) -> Result<Output, Failure> {
        if let Some(path) = path {
            let same = match (path.canonicalize(), input.canonicalize()) {
                (Ok(one), Ok(other)) => one == other,
                _ => false,
            };
            if same {
                return Err(Failure::usage("-o would write over the input; name another file"));
            }
            if path.is_dir() {
                return Err(Failure::usage(format!("`{}` is a folder; name a file in it", path.display())));
            }
        } else if io::stdout().is_terminal() {
            terminal::warning("the result goes to the terminal; -o FILE keeps it");
        }
        Ok(Output { path: path.map(Path::to_path_buf), saved: Instant::now() })
    }

    /// Keeps the smallest input so far, now and then.
    pub fn save(&mut self, bytes: &[u8]) -> Result<(), String> {
        match &self.path {
            Some(path) if self.saved.elapsed() >= SAVE => {
                self.saved = Instant::now();
                replace(path, bytes)
            }
            _ => Ok(()),
        }
    }

    /// Writes the result.
    pub fn finish(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match &self.path {
            Some(path) => replace(path, bytes),
            None => {
                let mut out = super::super::standard_output();
                match out.write_all(bytes).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        Err(format!("cannot write to standard output: {}", reason(&error)))
                    }
                    _ => Ok(()),
                }
            }
        };
        written.map_err(|message| Failure::Message(1, message))
    }
}

/// Puts a file in the place of another, so that one of them is whole at any
/// time.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&fresh);
        format!("cannot write `{}`: {}", path.display(), reason(&error))
    })
}

/// A line on the terminal.
pub struct Progress {
    before: usize,
    on: bool,
    shown: Option<Instant>,
}

impl Progress {
    pub fn new(before: usize) -> Progress {
        Progress { before, on: io::stderr().is_terminal(), shown: None }
    }

    pub fn show(&mut self, now: usize, runs: u64) {
        if self.on && self.shown.is_none_or(|shown| shown.elapsed() >= SHOW) {
            self.shown = Some(Instant::now());
            terminal::overwrite(&format!("{} -> {now} bytes, {runs} runs", self.before));
        }
    }

    pub fn clear(&mut self) {
        if self.on && self.shown.is_some() {
            terminal::erase();
        }
    }
}
