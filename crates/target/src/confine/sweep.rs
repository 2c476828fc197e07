//! Empties a folder that a target wrote to.
//!
//! In:  a descriptor of the folder, and the target's user.
//! Out: an empty folder, or word that there was too much to remove.
//!
//! Everything is reached by descriptors and single names that are not
//! followed, with the rights of the target's user: wherever names lead, and
//! whatever still runs, nothing is touched that the target could not touch.
//! The work is bounded by a number of steps. No memory is allocated, since a
//! warden does this as well (see `warden/inside.rs`).

use super::User;
use libc::{c_char, c_int};
use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

/// What a folder that is swept is to be like.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Whose rights are used, where this process has others.
    pub user: Option<User>,
    /// The rights of the folder.
    pub mode: u32,
    /// Names that stay.
    pub fixed: Vec<CString>,
}

/// Whether nothing but the fixed names is in the folder.
pub fn is_empty(folder: RawFd, rules: &Rules) -> bool {
    let mut found = false;
    each(folder, |name| {
        found |= !is_fixed(name, rules);
        !found
    });
    !found && glance(folder).is_some_and(|glance| glance.mode == rules.mode)
}

/// How a folder looks at a glance: a folder in memory has a size that counts
/// its entries, so one call tells whether there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    size: i64,
    mode: u32,
}

/// What an empty folder looks like, if an entry would change that.
pub fn glance_of_empty(folder: RawFd) -> Option<Glance> {
    const IN_MEMORY: i64 = 0x0102_1994;
    const PROBE: &CStr = c"probe";
    let before = glance(folder)?;
    // SAFETY: a structure of plain numbers, filled by the call; the name ends
    // in NUL. No target runs yet.
    let changed = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(folder, &mut about) != 0 || about.f_type as i64 != IN_MEMORY {
            return None;
        }
        if libc::mkdirat(folder, PROBE.as_ptr(), 0o700) != 0 {
            return None;
        }
        let during = glance(folder);
        libc::unlinkat(folder, PROBE.as_ptr(), libc::AT_REMOVEDIR) == 0 && during != Some(before)
    };
    (changed && glance(folder) == Some(before)).then_some(before)
}

/// What a folder looks like now.
pub fn glance(folder: RawFd) -> Option<Glance> {
    // SAFETY: a structure of plain numbers, filled by the call.
    unsafe {
        let mut data: libc::stat = std::mem::zeroed();
        let done = libc::fstat(folder, &mut data) == 0;
        done.then_some(Glance { size: data.st_size, mode: data.st_mode & 0o7777 })
    }
}

/// Removes all but the fixed names in at most so many steps; whether it did.
pub fn sweep(folder: RawFd, rules: &Rules, mut steps: u64) -> bool {
    let _rights = Borrowed::of(rules.user);
    let mut fresh = 0u64;
    // SAFETY: the descriptor is open.
    unsafe { libc::fchmod(folder, rules.mode) };
    loop {
        let (mut left, mut stuck) = (false, false);
        each(folder, |name| {
            if is_fixed(name, rules) {
                return true;
            }
            left = true;
            let done = remove(folder, name) || flatten(folder, name, &mut fresh, &mut steps);
            stuck |= !done;
            steps = steps.saturating_sub(1);
            steps > 0
        });
        if !left {
            return true;
        }
        if stuck || steps == 0 {
            return false;
        }
    }
}

/// Removes a file, or a folder that is empty.
fn remove(folder: RawFd, name: &CStr) -> bool {
    // SAFETY: the name ends in NUL.
    unsafe {
        libc::unlinkat(folder, name.as_ptr(), 0) == 0
            || libc::unlinkat(folder, name.as_ptr(), libc::AT_REMOVEDIR) == 0
    }
}

/// Removes a folder whose inner folders are moved up, so that no depth
/// matters. True if something changed.
fn flatten(outer: RawFd, name: &CStr, fresh: &mut u64, steps: &mut u64) -> bool {
    let Some(inner) = open(outer, name) else { return false };
    let mut moved = true;
    each(inner, |name| {
        *steps = steps.saturating_sub(1);
        if !remove(inner, name) {
            // A folder can be moved only by one who may write to it.
            if let Some(folder) = open(inner, name) {
                // SAFETY: it was just opened.
                unsafe { libc::close(folder) };
            }
            moved &= lift(inner, name, outer, fresh);
        }
        moved && *steps > 0
    });
    // SAFETY: it was opened above; the name ends in NUL.
    unsafe {
        libc::close(inner);
        // Too many entries for one look: the next goes on.
        libc::unlinkat(outer, name.as_ptr(), libc::AT_REMOVEDIR) == 0 || moved
    }
}

/// Moves an entry one folder up, under a name that nobody has.
fn lift(inner: RawFd, name: &CStr, outer: RawFd, fresh: &mut u64) -> bool {
    const NO_REPLACE: u32 = 1;
    for _ in 0..1_000_000 {
        *fresh += 1;
        let mut digits = [0u8; 20];
        let mut rest = *fresh;
        for digit in digits[..19].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        // SAFETY: both names end in NUL.
        let result = unsafe {
            let (from, to) = (name.as_ptr(), digits.as_ptr().cast::<c_char>());
            libc::syscall(libc::SYS_renameat2, inner, from, outer, to, NO_REPLACE)
        };
        if result == 0 {
            return true;
        }
        if errno() != libc::EEXIST {
            return false;
        }
    }
    false
}

/// Opens a folder whose rights may have been taken away; never a link.
fn open(folder: RawFd, name: &CStr) -> Option<RawFd> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: names end in NUL; descriptors are closed once.
    unsafe {
        let pinned = libc::openat(folder, name.as_ptr(), libc::O_PATH | flags);
        if pinned < 0 {
            return None;
        }
        // By its descriptor, whatever has its name by now.
        let mut path = *b"/proc/self/fd/0000000000\0";
        let mut rest = pinned;
        let mut at = path.len() - 1;
        while rest > 0 || at == path.len() - 1 {
            at -= 1;
            path[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        path.copy_within(at.., 14);
        libc::chmod(path.as_ptr().cast(), 0o700);
        let opened = libc::openat(pinned, c".".as_ptr(), flags);
        libc::close(pinned);
        (opened >= 0).then_some(opened)
    }
}

/// Calls with the names in a folder, from its beginning, until it says no.
fn each(folder: RawFd, mut act: impl FnMut(&CStr) -> bool) {
    let mut buffer = [0u64; 512];
    // SAFETY: the buffer is as large as is said; entries are where the kernel
    // says, with names that end in NUL.
    unsafe {
        libc::lseek(folder, 0, libc::SEEK_SET);
        loop {
            let got = libc::syscall(libc::SYS_getdents64, folder, buffer.as_mut_ptr(), size_of_val(&buffer));
            if got <= 0 {
                return;
            }
            let mut at = 0;
            while at < got as usize {
                let entry = buffer.as_ptr().cast::<u8>().add(at).cast::<libc::dirent64>();
                at += usize::from((&raw const (*entry).d_reclen).read_unaligned());
                let name = CStr::from_ptr((&raw const (*entry).d_name).cast());
                if !matches!(name.to_bytes(), b"." | b"..") && !act(name) {
                    return;
                }
            }
        }
    }
}

fn is_fixed(name: &CStr, rules: &Rules) -> bool {
    rules.fixed.iter().any(|fixed| fixed.as_c_str() == name)
}

fn errno() -> c_int {
    // SAFETY: the place belongs to this thread.
    unsafe { *libc::__errno_location() }
}

/// The rights of another user on files, for this thread, as long as it lives.
///
/// The system forgets then that the thread wanted to be told of its parent's
/// end; it is reminded.
struct Borrowed(Option<(u32, u32, c_int)>);

impl Borrowed {
    fn of(user: Option<User>) -> Borrowed {
        let Some(User { uid, gid, .. }) = user else { return Borrowed(None) };
        // SAFETY: no memory is involved; the calls hold for this thread.
        unsafe {
            let mut signal: c_int = 0;
            libc::prctl(libc::PR_GET_PDEATHSIG, &raw mut signal, 0, 0, 0);
            let group = libc::syscall(libc::SYS_setfsgid, gid) as u32;
            let user = libc::syscall(libc::SYS_setfsuid, uid) as u32;
            Borrowed(Some((user, group, signal)))
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some((user, group, signal)) = self.0 {
            // SAFETY: as above.
            unsafe {
                libc::syscall(libc::SYS_setfsuid, user);
                libc::syscall(libc::SYS_setfsgid, group);
                libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File, Permissions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn whatever_is_there_is_removed_and_links_are_not_followed() {
        let base = std::env::temp_dir().join(format!("wug-sweep-{}", std::process::id()));
        let (folder, outside) = (base.join("folder"), base.join("outside"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(outside.join("kept"), "kept").expect("a file");
        wug_property::check(|u| {
            let mut at = folder.clone();
            fs::create_dir_all(folder.join("fixed")).expect("a folder");
            for i in 0..u.int_in_range(1..=60)? {
                // Names that the sweeper would choose, among others.
                let path = at.join(if u.arbitrary()? { format!("{i:019}") } else { format!(".{i}") });
                match u.int_in_range(0..=4)? {
                    0 => fs::write(&path, "x").expect("a file"),
                    1 => std::os::unix::fs::symlink(&outside, &path).expect("a link"),
                    2 => drop(std::os::unix::net::UnixListener::bind(&path)),
                    _ => {
                        fs::create_dir(&path).expect("a folder");
                        if u.arbitrary()? {
                            at = path;
                        }
                    }
                }
            }
            if u.arbitrary()? && at != folder {
                fs::set_permissions(&at, Permissions::from_mode(0o000)).expect("rights");
            }
            let rules = Rules { user: None, mode: 0o700, fixed: vec![c"fixed".into()] };
            let open = File::open(&folder).expect("the folder");
            assert!(!is_empty(open.as_raw_fd(), &rules));
            assert!(sweep(open.as_raw_fd(), &rules, 100_000));
            assert!(is_empty(open.as_raw_fd(), &rules));
            let names: Vec<_> =
                fs::read_dir(&folder).expect("the folder").flatten().map(|e| e.file_name()).collect();
            assert_eq!(names, ["fixed"]);
            assert!(outside.join("kept").exists());
            Ok(())
        })
        .for_cases(100);
        let open = File::open(&folder).expect("the folder");
        for i in 0..100 {
            fs::write(folder.join(i.to_string()), "").expect("a file");
        }
        let rules = Rules { mode: 0o700, ..Rules::default() };
        assert!(!sweep(open.as_raw_fd(), &rules, 50), "bounded by its steps");
        fs::remove_dir_all(&base).expect("an end");
    }
}
