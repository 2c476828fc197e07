//! The user without rights that a target of root runs as.
//!
//! Each executor has a user of its own, with a number that no account has:
//! limits on processes are counted per user, and two executors must not
//! starve each other. Where numbers are scarce (containers), it is `nobody`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// User and group.
#[derive(Clone, Copy, Debug)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
    /// Whether nobody else runs as this user.
    pub own: bool,
}

/// Above what distributions, systemd and containers give out.
const FIRST: u32 = 0x7000_0000;
const NOBODY: u32 = 65_534;

/// For root, a user without rights if there is one; the others stay who they
/// are.
pub fn choose_user() -> Result<Option<User>, String> {
    // SAFETY: the call always works.
    if unsafe { libc::geteuid() } != 0 {
        return Ok(None);
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // 22 bits of a process, 6 of a counter: distinct on this machine as long
    // as a process has at most 64 executors.
    let own = FIRST | (std::process::id() & 0x3F_FFFF) << 6 | NEXT.fetch_add(1, Ordering::Relaxed) & 63;
    let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/gid_map").unwrap_or_default();
    let both = |number| maps(&users, number) && maps(&groups, number);
    match [own, NOBODY].into_iter().find(|number| both(*number)) {
        Some(number) => Ok(Some(User { uid: number, gid: number, own: number >= FIRST })),
        None => Err("this user namespace has no other user".into()),
    }
}

/// Whether a map of a user namespace has a number.
fn maps(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().map_while(|field| field.parse::<u64>().ok());
        let (Some(first), Some(_), Some(count)) = (fields.next(), fields.next(), fields.next()) else {
            return false;
        };
        (first..first.saturating_add(count)).contains(&number.into())
    })
}

/// Processes and threads of a user, for a limit on top of them.
pub fn count_processes(uid: u32) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let mine = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
            && entry.metadata().is_ok_and(|data| data.uid() == uid)
    });
    mine.map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64)).sum()
}

#[cfg(test)]
mod tests {
    use super::maps;

    #[test]
    fn maps_of_ids_are_read() {
        let whole = "         0          0 4294967295\n";
        assert!(maps(whole, 0x7000_0000));
        let container = "0 100000 65536\n";
        assert!(maps(container, 65_534) && !maps(container, 0x7000_0000));
        assert!(!maps("1000 1000 1\n", 65_534) && !maps("", 1) && !maps("x", 1));
    }
}
