//! Folders that no other user can put anything into.
//!
//! In:  where a folder is to be.
//! Out: a folder that is there, is ours, has mode 0700, is no link, and lies
//!      where not everybody can put another in its place; or why there is none.
//!
//! A folder is checked each time that it is used, since what lies in a cache
//! is linked and executed: another user of the machine may have made it first.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes a folder unless it is there, and checks it.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check(path)
}

/// Checks a folder that is there. One of ours that others may only read is
/// made private; one that others can write to may hold anything.
pub fn check(path: &Path) -> io::Result<()> {
    let about = path.symlink_metadata()?;
    let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, what.to_string()));
    if !about.is_dir() {
        return wrong(if about.is_symlink() { "it is a symbolic link" } else { "it is not a folder" });
    }
    if about.uid() != user() {
        return wrong("it belongs to another user");
    }
    if about.mode() & 0o022 != 0 {
        return wrong("others may write to it");
    }
    if about.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    if !is_out_of_reach(path)? {
        return wrong("another user may replace it");
    }
    Ok(())
}

/// Whether not everybody can rename what leads to a folder.
fn is_out_of_reach(path: &Path) -> io::Result<bool> {
    let whole = path.canonicalize()?;
    // Sticky folders let each user rename only what is his. Whose the folders
    // above are is not asked: they were named by the user, or are the system's.
    let safe = |about: Metadata| about.mode() & 0o002 == 0 || about.mode() & 0o1000 != 0;
    for folder in whole.ancestors().skip(1) {
        if !safe(folder.symlink_metadata()?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The user whose rights this process has.
pub fn user() -> u32 {
    // SAFETY: the call always works.
    unsafe { libc::geteuid() }
}

/// Where a user's files of one session are: `$XDG_RUNTIME_DIR`, if it is there
/// and private.
pub fn session() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    (path.is_absolute() && check(&path).is_ok()).then_some(path)
}

/// A new private folder among temporary files, gone when dropped.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// A folder whose name begins with `wug-NAME-` and cannot be foretold.
    pub fn new(name: &str) -> io::Result<Temporary> {
        Temporary::below(&std::env::temp_dir(), name)
    }

    /// The same in another folder.
    pub fn below(base: &Path, name: &str) -> io::Result<Temporary> {
        for _ in 0..64 {
            // Each has keys that the system drew.
            let number = RandomState::new().build_hasher().finish();
            let path = base.join(format!("wug-{name}-{number:016x}"));
            // Fails if anything is there, a link included.
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Temporary(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves it to whoever comes next.
    pub fn keep(self) -> PathBuf {
        let path = self.0.clone();
        std::mem::forget(self);
        path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().expect("a folder").mode() & 0o7777
    }

    #[test]
    fn temporary_folders_are_new_private_and_gone_at_the_end() {
        let (one, two) = (Temporary::new("test").expect("one"), Temporary::new("test").expect("two"));
        assert_ne!(one.path(), two.path());
        assert_eq!(mode(one.path()), 0o700);
        check(one.path()).expect("private");
        fs::write(one.path().join("file"), b"x").expect("a file");
        let gone = one.path().to_owned();
        drop(one);
        assert!(!gone.exists() && two.path().exists());
    }

    #[test]
    fn folders_of_others_and_links_are_refused() {
        let base = Temporary::new("test").expect("a folder");
        let path = |name: &str| base.path().join(name);
        folder(&path("a/b")).expect("made");
        assert_eq!((mode(&path("a")), mode(&path("a/b"))), (0o700, 0o700));
        let set =
            |name: &str, mode| fs::set_permissions(path(name), Permissions::from_mode(mode)).expect("a mode");
        set("a/b", 0o755);
        folder(&path("a/b")).expect("closed again");
        assert_eq!(mode(&path("a/b")), 0o700);
        let refused = |name: &str, told: &str| {
            let error = folder(&path(name)).expect_err(name).to_string();
            assert!(error.contains(told), "{name}: {error}");
        };
        for open in [0o777, 0o720, 0o1777] {
            set("a/b", open);
            refused("a/b", "others may write to it");
        }
        set("a/b", 0o700);
        std::os::unix::fs::symlink("a/b", path("link")).expect("a link");
        refused("link", "a symbolic link");
        fs::write(path("file"), b"x").expect("a file");
        assert!(folder(&path("file")).is_err());
        set("a", 0o777);
        refused("a/b", "another user may replace it");
        set("a", 0o1777);
        folder(&path("a/b")).expect("as in /tmp");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        if user() != 0 {
            // Root's own is there for all others.
            assert!(check(Path::new("/usr")).is_err());
            return;
        }
        let base = Temporary::new("test").expect("a folder");
        let planted = base.path().join("planted");
        folder(&planted).expect("made");
        std::os::unix::fs::chown(&planted, Some(12345), None).expect("another owner");
        assert!(folder(&planted).expect_err("planted").to_string().contains("another user"));
    }
}
