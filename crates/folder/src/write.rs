//! Files that are never torn.
//!
//! Each file is written under another name in the same file system and then
//! renamed: whoever reads sees all of it or nothing, whatever kills us. The
//! other name is in the campaign's own folder, where no importer looks.
//!
//! A process that is killed needs nothing more: what was written is the
//! kernel's. A power cut does. Waiting for the disk with each entry would
//! cost 9 to 170 times the write itself (`wug bench folder`), so a thread
//! of its own brings entries to the disk once a second: a power cut loses
//! what was found in about the last second. Crashes and hangs are on the
//! disk before they are acknowledged.
//!
//! Rejected: `O_TMPFILE` with `linkat`, which needs no other name, since not
//! all file systems have it and it cannot replace a file.

use super::{Error, lock::Lock, settle::Settler};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wug_files::regular;

/// The name of a file that is being written. There is one, since only one
/// process may write to a campaign's folder.
pub(crate) const FRESH: &str = ".fresh";

/// Writes whole files into one campaign's folder.
pub(crate) struct Writer {
    fresh: PathBuf,
    settler: Settler,
}

/// When a file must be on the disk.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// Before the call returns.
    Now,
    /// In about a second.
    Soon,
    /// When the system likes: it is written again and again.
    Whenever,
}

impl Writer {
    /// For a folder that is locked.
    pub fn new(folder: &Path, lock: Arc<Lock>) -> Writer {
        Writer { fresh: folder.join(FRESH), settler: Settler::new(lock) }
    }

    /// Puts a file into its place, as a new one or instead of the old. On
    /// any error the place is as it was.
    pub fn put(&self, path: &Path, bytes: &[u8], when: When) -> Result<(), Error> {
        put(&self.fresh, path, bytes, when)?;
        if when == When::Soon {
            self.settler.add(path);
        }
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub fn settle(&self) -> io::Result<()> {
        self.settler.settle()
    }
}

/// Writes a file beside its place and puts it there. On any error the place
/// is as it was.
pub(super) fn put(fresh: &Path, path: &Path, bytes: &[u8], when: When) -> Result<(), Error> {
    let written = write(fresh, path, bytes, when);
    if written.is_err() {
        // Half of it may be there, and may be what fills the disk.
        let _ = fs::remove_file(fresh);
    }
    written.map_err(Error::of("write", path))
}

fn write(fresh: &Path, path: &Path, bytes: &[u8], when: When) -> io::Result<()> {
    let mut file = regular::create(fresh)?;
    file.write_all(bytes)?;
    if when == When::Now {
        file.sync_data()?;
    }
    close(file)?;
    fs::rename(fresh, path)?;
    if when == When::Now
        && let Some(folder) = path.parent()
    {
        regular::open_folder(folder)?.sync_all()?;
    }
    Ok(())
}

/// Network file systems tell only here that there was no room.
fn close(file: File) -> io::Result<()> {
    let fd = std::os::fd::IntoRawFd::into_raw_fd(file);
    // SAFETY: the descriptor was just given up by its owner.
    if unsafe { libc::close(fd) } != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Brings all of a file system to the disk.
pub(crate) fn sync_file_system(fd: &impl AsFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    if unsafe { libc::syncfs(fd.as_fd().as_raw_fd()) } != 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
