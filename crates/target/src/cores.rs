//! Which core a fuzzer and its targets share.
//!
//! A word from one process to another and back is several times cheaper on
//! one core than across two, where each must be woken from afar
//! (`wug bench executor` shows both). So a thread that runs targets binds
//! itself to a core before it makes its executor: the target's processes
//! inherit that. Nothing here is done unasked, since programs with threads
//! of their own may want all cores.

use super::sys;
use std::{fs, io};

/// Binds this thread, and all it starts from now on, to one core.
pub fn bind(core: usize) -> io::Result<()> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: a set of cores is plain bits, and the core is one of them.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set)
    };
    sys::check(result.into()).map(drop)
}

/// The cores that this thread may use.
pub fn allowed() -> io::Result<Vec<usize>> {
    // SAFETY: as above; the call fills the set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        sys::check(libc::sched_getaffinity(0, size_of_val(&set), &mut set).into())?;
        Ok((0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &set)).collect())
    }
}

/// Those of them that nobody is bound to: other fuzzers bind themselves as
/// well.
pub fn free() -> io::Result<Vec<usize>> {
    let mut cores = allowed()?;
    for entry in fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        // Threads of the kernel are bound by their nature and have no memory.
        if !status.contains("VmRSS:") {
            continue;
        }
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        if let Some(taken) = list.and_then(|list| list.trim().parse::<usize>().ok()) {
            cores.retain(|core| *core != taken);
        }
    }
    Ok(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_bound_to_the_core_they_name() {
        let cores = allowed().expect("cores");
        let core = *cores.last().expect("one at least");
        let bound = std::thread::spawn(move || bind(core).and_then(|()| allowed())).join().expect("a thread");
        assert_eq!(bound.expect("bound"), [core]);
        assert_eq!(allowed().expect("cores"), cores, "other threads are as before");
        assert!(free().expect("cores").iter().all(|core| cores.contains(core)));
        assert!(bind(usize::MAX).is_err());
    }
}
