//! The place on disk that belongs to one executor.
//!
//! ```text
//! BASE/wug-PID-N/        the executor's
//! BASE/wug-PID-N/input   the input of a target that reads a file
//! BASE/wug-PID-N/program a copy of a program that is private to root
//! BASE/wug-PID-N/root    where the target's view is mounted
//! BASE/wug-PID-N/scratch all that a target without a view may write to
//! ```
//!
//! A target with a view of its own sees nothing of this: its input is shown
//! elsewhere, and its scratch folder is memory of bounded size that ends with
//! its last process. The warden removes the rest, even if the executor was
//! killed.
//!
//! What a run left in the scratch folder is gone before the next: one glance at
//! the folder tells where it is in memory; else it is read. Times tell nothing,
//! since a target can set them as it likes.

use super::sweep::{self, Glance, Rules};
use super::{User, View, view};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folders of an executor.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    user: Option<User>,
    scratch: Option<Scratch>,
}

/// The scratch folder as the target sees it.
#[derive(Debug)]
struct Scratch {
    folder: OwnedFd,
    rules: Rules,
    /// What it looks like when it is empty, if that tells.
    empty: Option<Glance>,
}

impl Scratch {
    fn is_empty(&self) -> bool {
        sweep::is_empty(self.folder.as_raw_fd(), &self.rules)
    }

    fn looks_empty(&self) -> bool {
        self.empty.is_some() && sweep::glance(self.folder.as_raw_fd()) == self.empty
    }

    fn sweep(&self, steps: u64) -> bool {
        sweep::sweep(self.folder.as_raw_fd(), &self.rules, steps)
    }
}

/// Entries that a scratch folder in memory may hold.
pub const MAX_ENTRIES: u64 = 16_384;
/// Steps that a sweep may take while the target lives, and afterwards.
const FEW: u64 = 4 * MAX_ENTRIES;
pub const MANY: u64 = 10_000_000;

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
            let workplace = Workplace { folder, user, scratch: None };
            for inner in [workplace.scratch(false), workplace.root()] {
                fs::DirBuilder::new().mode(0o700).create(inner)?;
            }
            // The mask of this process may have taken rights away.
            fs::set_permissions(&workplace.folder, fs::Permissions::from_mode(0o711))?;
            if let Some(User { uid, gid, .. }) = user {
                chown(workplace.scratch(false), Some(uid), Some(gid))?;
            }
            return Ok(workplace);
        }
        Err(io::Error::other("every name for a folder is taken"))
    }

    /// Where all of it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program for a stranger: a copy, if his user may not execute it. A
    /// view has copies of its own.
    pub fn program_for_stranger(&self, program: &Path) -> io::Result<Option<PathBuf>> {
        if fs::metadata(program)?.mode() & 0o5 == 0o5 {
            return Ok(None);
        }
        let copy = self.folder.join("program");
        if !copy.exists() {
            fs::copy(program, &copy)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
        }
        Ok(Some(copy))
    }

    /// Where a view is mounted.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The scratch folder as the target names it.
    pub fn scratch(&self, in_view: bool) -> PathBuf {
        if in_view { view::SCRATCH.into() } else { self.folder.join("scratch") }
    }

    /// The input file as the target names it.
    pub fn input(&self, in_view: bool) -> PathBuf {
        if in_view { view::INPUT.into() } else { self.folder.join("input") }
    }

    /// How the scratch folder is to be: root's in a view of root's, so that
    /// the target has no rights over the folder itself.
    pub fn rules(&self, view: Option<&View>) -> Rules {
        let mode = if view.is_some() && self.user.is_some() { 0o1777 } else { 0o700 };
        let fixed = view.map(|view| view.fixed.as_slice()).unwrap_or_default();
        let fixed = fixed.iter().filter_map(|name| CString::new(name.as_bytes()).ok());
        Rules { user: self.user, mode, fixed: fixed.collect() }
    }

    /// The folder behind [`scratch`](Self::scratch), opened inside.
    pub fn open(&mut self, scratch: OwnedFd, rules: Rules) -> io::Result<()> {
        let mut scratch = Scratch { folder: scratch, rules, empty: None };
        let swept = scratch.is_empty() || scratch.sweep(MANY);
        if swept {
            scratch.empty = sweep::glance_of_empty(scratch.folder.as_raw_fd());
        }
        self.scratch = Some(scratch);
        if swept { Ok(()) } else { Err(io::Error::other("it does not become empty")) }
    }

    /// Whether a run left nothing behind; `thoroughly`, if a glance is not to
    /// be trusted.
    pub fn is_tidy(&self, thoroughly: bool) -> bool {
        let tidy = |scratch: &Scratch| (!thoroughly && scratch.looks_empty()) || scratch.is_empty();
        self.scratch.as_ref().is_none_or(tidy)
    }

    /// Removes what a run left behind, as far as that does not take long.
    pub fn tidy(&self, thoroughly: bool) -> bool {
        let steps = if thoroughly { MANY } else { FEW };
        self.scratch.as_ref().is_none_or(|scratch| scratch.sweep(steps))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // The warden has removed the rest by now, and all processes are gone.
        if let Some(scratch) = self.scratch.take() {
            scratch.sweep(MANY);
        }
        for file in ["input", "program"] {
            let _ = fs::remove_file(self.folder.join(file));
        }
        for folder in [self.scratch(false), self.root(), self.folder.clone()] {
            let _ = fs::remove_dir(folder);
        }
    }
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
    let found = candidates.into_iter().flatten().find(usable).unwrap_or_else(|| "/tmp".into());
    view::absolute(&found)
}
