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
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The file that inputs are written to.
#[derive(Debug)]
pub struct InputFile {
    writer: File,
    /// What the target has as standard input: opened apart, for reading, but
    /// shared with the target, so that it can be rewound.
    stdin: File,
    by_name: bool,
    /// Whether the target's user cannot write to the file.
    safe: bool,
    /// The length of the last input.
    length: usize,
}

impl InputFile {
    /// For a target that reads standard input. It is `safe` if the target
    /// runs as a user who cannot write to the file.
    pub fn on_stdin(safe: bool) -> Result<InputFile, Error> {
        let make = || {
            let writer = File::from(sys::memory_file(c"wug-input")?);
            writer.set_permissions(PermissionsExt::from_mode(0o444))?;
            let stdin = File::open(format!("/proc/self/fd/{}", writer.as_raw_fd()))?;
            Ok(InputFile { writer, stdin, by_name: false, safe, length: 0 })
        };
        make().map_err(Error::system("make a file in memory"))
    }

    /// For a target that reads a file; its standard input is empty.
    pub fn at(path: &Path, safe: bool) -> Result<InputFile, Error> {
        let make = || {
            let writer = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
            writer.set_permissions(PermissionsExt::from_mode(0o644))?;
            Ok(InputFile { writer, stdin: File::open("/dev/null")?, by_name: true, safe, length: 0 })
        };
        make().map_err(Error::system("make the input file"))
    }

    /// What the target gets as standard input.
    pub fn stdin(&self) -> Result<OwnedFd, Error> {
        self.stdin.try_clone().map(OwnedFd::from).map_err(Error::system("copy a descriptor"))
    }

    /// For a fork server, which then writes inputs itself.
    pub fn writer(&self) -> Result<OwnedFd, Error> {
        self.writer.try_clone().map(OwnedFd::from).map_err(Error::system("copy a descriptor"))
    }

    /// By what it is known under any name: device and inode.
    pub fn identity(&self) -> Result<(u64, u64), Error> {
        let data = self.writer.metadata().map_err(Error::system("look at the input file"))?;
        Ok((data.dev(), data.ino()))
    }

    /// Somebody else has written to it.
    pub fn written(&mut self) {
        self.length = usize::MAX;
    }

    /// Makes this the input of the next run: exactly these bytes, whatever
    /// the target did to the file.
    pub fn put(&mut self, input: &[u8]) -> Result<(), Error> {
        let mut put = || {
            self.writer.write_all_at(input, 0)?;
            // A longer one makes the file longer by itself.
            if !self.safe || input.len() < self.length {
                self.writer.set_len(input.len() as u64)?;
            }
            self.length = input.len();
            if !self.by_name {
                io::Seek::rewind(&mut self.stdin)?;
            }
            Ok(())
        };
        put().map_err(Error::system("write the input file"))
    }
}
