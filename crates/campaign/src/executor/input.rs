//! How an input reaches a target that does not take it from shared memory:
//! on standard input, or in a file.
//!
//! Either way it is one file that is written anew for each run and stays
//! open: in memory for standard input, in the executor's folder for `@@`.

use super::error::Error;
use super::sys;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The file that inputs are written to.
#[derive(Debug)]
pub struct InputFile {
    writer: File,
    /// What the target has as standard input: opened apart, for reading, but
    /// shared with the target, so that it can be rewound.
    stdin: File,
    by_name: bool,
}

impl InputFile {
    /// For a target that reads standard input.
    pub fn on_stdin() -> Result<InputFile, Error> {
        let make = || {
            let writer = File::from(sys::memory_file(c"wug-input")?);
            writer.set_permissions(PermissionsExt::from_mode(0o444))?;
            let stdin = File::open(format!("/proc/self/fd/{}", writer.as_raw_fd()))?;
            Ok(InputFile { writer, stdin, by_name: false })
        };
        make().map_err(Error::system("make a file in memory"))
    }

    /// For a target that reads a file; its standard input is empty.
    pub fn at(path: &Path) -> Result<InputFile, Error> {
        let make = || {
            let writer = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
            writer.set_permissions(PermissionsExt::from_mode(0o644))?;
            Ok(InputFile { writer, stdin: File::open("/dev/null")?, by_name: true })
        };
        make().map_err(Error::system("make the input file"))
    }

    /// What the target gets as standard input.
    pub fn stdin(&self) -> Result<OwnedFd, Error> {
        self.stdin.try_clone().map(OwnedFd::from).map_err(Error::system("copy a descriptor"))
    }

    /// Makes this the input of the next run: exactly these bytes, whatever
    /// the target did to the file.
    pub fn put(&mut self, input: &[u8]) -> Result<(), Error> {
        let mut put = || {
            self.writer.write_all_at(input, 0)?;
            self.writer.set_len(input.len() as u64)?;
            if !self.by_name {
                io::Seek::rewind(&mut self.stdin)?;
            }
            Ok(())
        };
        put().map_err(Error::system("write the input file"))
    }
}
