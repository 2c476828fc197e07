//! Thin covers over system calls: results become `io::Result`, descriptors
//! are owned.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Descriptors that a warden hands to targets stay above this number, so
/// that none is in the way of 198 and 199, where fork servers look.
pub const LOWEST: RawFd = 200;

/// -1 is an error.
pub fn check(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Owns what a call returned.
pub fn owned(result: i32) -> io::Result<OwnedFd> {
    let fd = check(result.into())? as RawFd;
    // SAFETY: the call has just made this descriptor, nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A copy of the descriptor with a high number, closed on exec.
pub fn raised(fd: &impl AsRawFd) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    owned(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LOWEST) })
}

/// Memory without a name in any file system. Nobody can seal it: a target that
/// has it could otherwise forbid that the next input is written.
pub fn memory_file(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    // SAFETY: the name ends in NUL.
    let fd = owned(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) })?;
    raised(&fd)
}

/// A ring of io_uring to which buffers can be registered, and that cannot be
/// used for anything else: it is switched off.
pub fn dormant_ring() -> io::Result<OwnedFd> {
    const SWITCHED_OFF: u32 = 1 << 6;
    let mut parameters = [0u32; 30];
    // The flags are the third word.
    parameters[2] = SWITCHED_OFF;
    // SAFETY: the kernel reads and writes the 120 bytes of the parameters.
    let ring = owned(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) as i32 })?;
    raised(&ring)
}

/// The same, of a length that nobody can change any more: whoever truncated a
/// file that others have mapped would end them by SIGBUS. Nor can anybody add
/// seals, such as one against later mappings.
pub fn sealed_memory_file(name: &std::ffi::CStr, length: usize) -> io::Result<OwnedFd> {
    let length = length.try_into().map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the name ends in NUL; no other memory is involved.
    unsafe {
        let fd = owned(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING))?;
        check(libc::ftruncate(fd.as_raw_fd(), length).into())?;
        check(libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals).into())?;
        raised(&fd)
    }
}

/// Two ends that keep the borders of messages and tell when the other end
/// is gone.
pub fn message_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: there is room for two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }.into())?;
    // SAFETY: both are new.
    unsafe { Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))) }
}

/// Waits until one of the descriptors can be read or is hung up: which can.
/// None after the time. Interrupted waits go on.
pub fn readable<const N: usize>(fds: [RawFd; N], limit: Duration) -> io::Result<Option<[bool; N]>> {
    poll(fds, libc::POLLIN, limit)
}

/// Waits until a pipe has room for a message, or is hung up; false after the
/// time.
pub fn writable(fd: RawFd, limit: Duration) -> io::Result<bool> {
    Ok(poll([fd], libc::POLLOUT, limit)?.is_some())
}

fn poll<const N: usize>(fds: [RawFd; N], events: i16, limit: Duration) -> io::Result<Option<[bool; N]>> {
    let end = std::time::Instant::now() + limit;
    loop {
        let mut polled = fds.map(|fd| libc::pollfd { fd, events, revents: 0 });
        let left = end.saturating_duration_since(std::time::Instant::now());
        // Rounded up: a wait must not end before its time.
        let millis = left.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
        // SAFETY: the array outlives the call.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, millis) };
        match check(ready.into()) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(polled.map(|p| p.revents != 0))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Sends a signal to exactly the process that the descriptor stands for.
pub fn signal(pidfd: &OwnedFd, signal: i32) -> io::Result<()> {
    // SAFETY: no memory but a null pointer, which the call allows.
    check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, 0usize, 0) })?;
    Ok(())
}
