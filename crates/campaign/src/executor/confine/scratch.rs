//! The place on disk that belongs to one executor.
//!
//! ```text
//! BASE/wug-PID-N/        the executor's; the target can read it
//! BASE/wug-PID-N/input   the input of a target that reads a file
//! BASE/wug-PID-N/scratch all that the target may write to
//! ```
//!
//! In a mount namespace the scratch folder is a file system in memory, of
//! bounded size, that ends with the target's last process. The warden removes
//! the rest, even if the executor was killed.
//!
//! What a run left in the scratch folder is gone before the next. Whether
//! there is anything takes one call: a folder's time of change, which is set
//! to 0 after each sweep, differs as soon as anything was made in it.

use super::User;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folders of an executor.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    /// The scratch folder as the target sees it.
    inside: Option<OwnedFd>,
}

/// Entries that a scratch folder in memory may hold.
pub const MAX_ENTRIES: u64 = 16_384;

impl Workplace {
    /// Makes the folders; the scratch folder belongs to the user.
    pub fn new(user: Option<User>) -> io::Result<Workplace> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = base();
        for _ in 0..1000 {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = base.join(format!("wug-{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o711).create(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let workplace = Workplace { folder, inside: None };
            fs::DirBuilder::new().mode(0o700).create(workplace.scratch())?;
            // The mask of this process may have taken rights away.
            fs::set_permissions(&workplace.folder, fs::Permissions::from_mode(0o711))?;
            if let Some(User { uid, gid, .. }) = user {
                chown(workplace.scratch(), Some(uid), Some(gid))?;
            }
            return Ok(workplace);
        }
        Err(io::Error::other("every name for a folder is taken"))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn scratch(&self) -> PathBuf {
        self.folder.join("scratch")
    }

    pub fn input(&self) -> PathBuf {
        self.folder.join("input")
    }

    /// The folder behind [`scratch`](Self::scratch), seen from inside.
    pub fn open(&mut self, scratch: OwnedFd) -> io::Result<()> {
        self.inside = Some(scratch);
        self.sweep()
    }

    /// Removes what a run left behind.
    pub fn tidy(&self) -> io::Result<bool> {
        match &self.inside {
            Some(scratch) if changed(scratch)? => self.sweep().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Removes everything from the scratch folder: a folder's entries are
    /// moved up, then it is removed, so that no depth of folders matters.
    fn sweep(&self) -> io::Result<()> {
        let root = self.path();
        let mut moved = 0u64;
        loop {
            let mut empty = true;
            for entry in fs::read_dir(&root)? {
                let path = entry?.path();
                empty = false;
                if !fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir()) {
                    fs::remove_file(&path)?;
                    continue;
                }
                // The target may have taken the rights to its own folder away.
                fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
                for inner in fs::read_dir(&path)? {
                    let inner = inner?.path();
                    let folder = fs::symlink_metadata(&inner).is_ok_and(|data| data.is_dir());
                    if folder {
                        fs::set_permissions(&inner, fs::Permissions::from_mode(0o700))?;
                    }
                    moved += 1;
                    fs::rename(&inner, root.join(format!(".swept-{moved}")))?;
                }
                fs::remove_dir(&path)?;
            }
            if empty {
                break;
            }
        }
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let path = std::ffi::CString::new(root.as_os_str().as_encoded_bytes())?;
        // SAFETY: the path ends in NUL, two times are given.
        let result = unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), [zero; 2].as_ptr(), 0) };
        super::super::sys::check(result.into()).map(drop)
    }

    /// The scratch folder of the target, from here.
    fn path(&self) -> PathBuf {
        match &self.inside {
            Some(fd) => PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd())),
            None => self.scratch(),
        }
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        self.inside = None;
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether anything was made in the folder since the last sweep.
fn changed(folder: &OwnedFd) -> io::Result<bool> {
    // SAFETY: a structure of plain numbers, filled by the call.
    let data = unsafe {
        let mut data: libc::stat = std::mem::zeroed();
        super::super::sys::check(libc::fstat(folder.as_raw_fd(), &mut data).into())?;
        data
    };
    Ok(data.st_mtime != 0 || data.st_mtime_nsec != 0)
}

/// Where to put folders: in memory, or else where temporary files go; every
/// user must be able to get there.
fn base() -> PathBuf {
    let candidates = [
        std::env::var_os("AFL_TMPDIR").map(PathBuf::from),
        Some("/dev/shm".into()),
        Some(std::env::temp_dir()),
    ];
    let usable = |path: &PathBuf| {
        let open =
            |part: &Path| fs::metadata(part).is_ok_and(|data| data.is_dir() && data.mode() & 0o001 != 0);
        let writable = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).is_ok_and(|path| {
            // SAFETY: the path ends in NUL.
            unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
        });
        writable && path.ancestors().filter(|part| part.as_os_str() != "").all(open)
    };
    candidates.into_iter().flatten().find(usable).unwrap_or_else(|| "/tmp".into())
}
