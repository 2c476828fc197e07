//! Who descends from whom, for a warden without a pid namespace: by walking
//! `/proc`. Safe after a fork, as all of the warden.
//!
//! A process is pinned by a descriptor before its ancestors are read, so that
//! its number cannot belong to another by the time it is signalled.
//! Processes that fork without end are stopped first: then they hold their
//! places under the limit of processes, and no new ones can come.

use libc::{c_int, pid_t};
use std::os::fd::RawFd;

/// Kills all descendants of this process but one and what descends from it;
/// how many there were.
///
/// # Safety
/// To be called by a warden, whose descendants are the target's processes.
pub unsafe fn kill_descendants(but: pid_t) -> c_int {
    // SAFETY: as above.
    unsafe {
        let mut before = -1;
        // A bound, since new ones come until all are stopped.
        for _ in 0..1000 {
            let stopped = signal_descendants(but, libc::SIGSTOP);
            if stopped <= before {
                break;
            }
            before = stopped;
        }
        signal_descendants(but, libc::SIGKILL)
    }
}

unsafe fn signal_descendants(but: pid_t, signal: c_int) -> c_int {
    let mut count = 0;
    // SAFETY: the buffers are large enough.
    unsafe {
        let own = libc::getpid();
        let proc = libc::open(c"/proc".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if proc < 0 {
            return -1;
        }
        let mut buffer = [0u64; 1024];
        loop {
            let size = size_of_val(&buffer);
            let got = libc::syscall(libc::SYS_getdents64, proc, buffer.as_mut_ptr(), size);
            if got <= 0 {
                break;
            }
            let mut at = 0;
            while at < got as usize {
                let entry = buffer.as_ptr().cast::<u8>().add(at).cast::<libc::dirent64>();
                at += (&raw const (*entry).d_reclen).read_unaligned() as usize;
                let pid = number((&raw const (*entry).d_name).cast());
                if pid > 1 && pid != own && signal_if(pid, signal, |pid| descends(pid, own, but)) {
                    count += 1;
                }
            }
        }
        libc::close(proc);
    }
    count
}

/// Whether a process descends from the warden, but not by way of the other.
unsafe fn descends(pid: pid_t, own: pid_t, but: pid_t) -> bool {
    let mut pid = pid;
    // More generations than this would be a deed of its own; the next round
    // meets them when their ancestors are gone.
    for _ in 0..1000 {
        if pid <= 1 || pid == but {
            return false;
        }
        // SAFETY: nothing but reading.
        pid = unsafe { parent(pid) };
        if pid == own {
            return true;
        }
    }
    false
}

/// Signals a process for which something holds while it is pinned.
unsafe fn signal_if(pid: pid_t, signal: c_int, holds: impl Fn(pid_t) -> bool) -> bool {
    // SAFETY: the descriptor pins the process.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0) as RawFd;
        if fd < 0 {
            return false;
        }
        let sent = holds(pid) && libc::syscall(libc::SYS_pidfd_send_signal, fd, signal, 0usize, 0) == 0;
        libc::close(fd);
        sent
    }
}

/// Kills a process if it is a child of the other.
///
/// # Safety
/// As above.
pub unsafe fn kill_child_of(of: pid_t, pid: pid_t) {
    // SAFETY: as above.
    unsafe { signal_if(pid, libc::SIGKILL, |pid| parent(pid) == of) };
}

/// A name of digits as a number, or 0.
unsafe fn number(mut name: *const u8) -> pid_t {
    let mut value: pid_t = 0;
    // SAFETY: the name ends in NUL.
    unsafe {
        while (*name).is_ascii_digit() {
            value = value.wrapping_mul(10).wrapping_add((*name - b'0') as pid_t);
            name = name.add(1);
        }
        if *name == 0 { value } else { 0 }
    }
}

/// The parent of a process, or 0.
unsafe fn parent(pid: pid_t) -> pid_t {
    let mut path = *b"/proc/0000000000/stat\0";
    let mut rest = pid;
    for digit in path[6..16].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // Leading zeros are not understood: the digits move to the front.
    let zeros = path[6..15].iter().take_while(|digit| **digit == b'0').count();
    path.copy_within(6 + zeros.., 6);
    let mut text = [0u8; 512];
    // SAFETY: the path ends in NUL, the buffer is as large as is said.
    let got = unsafe {
        let fd = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return 0;
        }
        let got = libc::read(fd, text.as_mut_ptr().cast(), text.len());
        libc::close(fd);
        got
    };
    // `PID (NAME) STATE PARENT`, where the name may hold anything.
    let text = text.get(..got.max(0) as usize).unwrap_or_default();
    let Some(end) = text.iter().rposition(|byte| *byte == b')') else { return 0 };
    let digits = text.iter().skip(end + 4).take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |value: pid_t, digit| value.wrapping_mul(10).wrapping_add((digit - b'0') as pid_t))
}

#[cfg(test)]
mod tests {
    #[test]
    fn parents_are_read_from_proc() {
        // SAFETY: nothing but reading.
        let parent = unsafe { super::parent(libc::getpid()) };
        assert_eq!(parent as u32, std::os::unix::process::parent_id());
        // SAFETY: as above.
        assert_eq!(unsafe { super::parent(1) }, 0);
    }
}
