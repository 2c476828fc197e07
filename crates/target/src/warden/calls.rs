//! What a warden asks of the system. Safe after a fork: no allocation, no
//! locks, no panics.

use super::super::sys::LOWEST;
use super::message::Event;
use libc::{c_char, c_int, pid_t};
use std::os::fd::RawFd;

/// Kills all processes of a user: by one who is that user, so that the system
/// keeps him from all others. One call reaches them all, however they fork.
///
/// # Safety
/// After a fork or not; the user must be the target's alone.
pub unsafe fn kill_user(user: u32) {
    // SAFETY: the new process only changes its user, kills, and ends.
    unsafe {
        let pid = libc::syscall(libc::SYS_clone, 0usize, 0usize, 0usize, 0usize, 0usize) as pid_t;
        if pid == 0 {
            if user > 0 && libc::syscall(libc::SYS_setresuid, user, user, user) == 0 {
                // Until nobody is left: those who were just born as well.
                for _ in 0..1000 {
                    if libc::kill(-1, libc::SIGKILL) != 0 {
                        break;
                    }
                }
            }
            libc::_exit(0);
        }
        if pid > 0 {
            libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL);
        }
    }
}

/// The number of the next process: made, ended and taken in at once.
pub unsafe fn probe() -> pid_t {
    // SAFETY: the new process does nothing but end.
    unsafe {
        let pid = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0usize, 0usize, 0usize, 0usize) as pid_t;
        if pid == 0 {
            libc::_exit(0);
        }
        if pid > 0 {
            libc::waitpid(pid, std::ptr::null_mut(), 0);
        }
        pid
    }
}

pub unsafe fn send(socket: RawFd, event: &Event, fds: &[RawFd]) {
    // SAFETY: all buffers are on this stack and large enough; the descriptors
    // that are not there are left out.
    unsafe {
        let mut part = libc::iovec {
            iov_base: std::ptr::from_ref(event).cast_mut().cast(),
            iov_len: size_of::<Event>(),
        };
        let mut space = [0u64; 8];
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        let count = fds.iter().filter(|fd| **fd >= 0).count();
        if count > 0 {
            let bytes = (count * size_of::<RawFd>()) as u32;
            message.msg_control = space.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(bytes) as _;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(bytes) as _;
            let data = libc::CMSG_DATA(header).cast::<RawFd>();
            for (i, fd) in fds.iter().filter(|fd| **fd >= 0).enumerate() {
                data.add(i).write_unaligned(*fd);
            }
        }
        libc::sendmsg(socket, &message, libc::MSG_NOSIGNAL);
    }
}

/// A pipe with high numbers, so that `dup2` meets none of them.
pub unsafe fn pipe(ends: &mut [RawFd; 2]) -> bool {
    // SAFETY: there is room for two descriptors.
    unsafe {
        let mut low = [-1; 2];
        if libc::pipe2(low.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return false;
        }
        for i in 0..2 {
            ends[i] = libc::fcntl(low[i], libc::F_DUPFD_CLOEXEC, LOWEST);
            libc::close(low[i]);
        }
        ends[0] >= 0 && ends[1] >= 0
    }
}

/// Closes everything but these, which ascend.
pub unsafe fn close_all_but(keep: &[RawFd]) {
    let mut first: u32 = 0;
    // SAFETY: nothing in this process uses what is closed here.
    unsafe {
        for last in keep.iter().map(|&fd| fd as u32).chain([u32::MAX]) {
            if last > first && libc::syscall(libc::SYS_close_range, first, last - 1, 0) != 0 {
                for fd in first..last.min(65_536) {
                    libc::close(fd as c_int);
                }
            }
            first = last.wrapping_add(1);
        }
    }
}

/// Handlers are gone after exec, but ignored signals stay ignored.
pub unsafe fn default_signals() {
    // SAFETY: no handler is installed.
    unsafe {
        for number in 1..65 {
            libc::signal(number, libc::SIG_DFL);
        }
    }
}

pub unsafe fn put(path: &std::ffi::CStr, text: &std::ffi::CStr) -> bool {
    // SAFETY: both end in NUL.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        let length = text.to_bytes().len();
        let wrote = libc::write(fd, text.as_ptr().cast(), length) == length as isize;
        libc::close(fd);
        wrote
    }
}

/// A namespace starts without any network; many programs expect to reach
/// themselves.
pub unsafe fn raise_loopback() {
    // SAFETY: the request is as large as the call expects.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return;
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut request);
        libc::close(socket);
    }
}

/// The layout of `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

pub unsafe fn add_rule(ruleset: RawFd, folder: RawFd, allowed: u64) -> i64 {
    const PATH_BENEATH: c_int = 1;
    let rule = PathBeneath { allowed, parent: folder };
    // SAFETY: the kernel only reads the rule.
    unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0) }
}

pub fn micros(time: &libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

pub fn errno() -> c_int {
    // SAFETY: the place belongs to this thread.
    unsafe { *libc::__errno_location() }
}
