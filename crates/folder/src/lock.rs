//! One campaign to a folder.
//!
//! The lock is the one that afl-fuzz takes, on the folder itself: a campaign
//! of either kind keeps both kinds out, and it ends with the process.

use super::Error;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// A folder that nobody else may use as long as this lives.
pub(super) struct Lock(OwnedFd);

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for Lock {
    /// Processes that were forked while it was held have it too: closing it
    /// here would not open it there.
    fn drop(&mut self) {
        // SAFETY: no memory is involved.
        unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Locks a folder.
pub(super) fn lock(folder: &Path) -> Result<Lock, Error> {
    let open = Error::of("open", folder);
    let descriptor: OwnedFd = wug_files::regular::open_folder(folder).map_err(open)?.into();
    // A campaign that was killed holds it until its last process is gone.
    let patience = Instant::now() + Duration::from_secs(2);
    loop {
        // SAFETY: no memory is involved.
        if unsafe { libc::flock(descriptor.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(Lock(descriptor));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => continue,
            Some(libc::EWOULDBLOCK) => {}
            // File systems without locks: better unguarded than useless.
            Some(libc::ENOLCK | libc::EOPNOTSUPP | libc::EINVAL) => return Ok(Lock(descriptor)),
            _ => return Err(Error::of("lock", folder)(error)),
        }
        let pid = super::stats::pid(folder);
        let lives = pid.is_none_or(lives);
        if lives || Instant::now() > patience {
            return Err(Error::Locked { path: folder.to_owned(), pid: pid.filter(|_| lives) });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether there is such a process.
pub(super) fn lives(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else { return false };
    // SAFETY: signal 0 only asks.
    pid > 0
        && (unsafe { libc::kill(pid, 0) } == 0
            || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH))
}
