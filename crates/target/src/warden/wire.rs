//! Messages on the executor's side of the socket.

use super::super::sys;
use super::message::{Command, Event};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A message, with the descriptors that came along.
pub struct Message {
    pub event: Event,
    pub fds: Vec<OwnedFd>,
    /// Who sent it, if that was asked for.
    pub sender: i32,
}

/// Sends a command to the warden.
pub fn send(socket: &OwnedFd, command: Command) -> io::Result<()> {
    let size = size_of::<Command>();
    // SAFETY: the command is as long as is said.
    let sent =
        unsafe { libc::send(socket.as_raw_fd(), (&raw const command).cast(), size, libc::MSG_NOSIGNAL) };
    sys::check(sent as i64).map(drop)
}

/// The next message; waits for it.
pub fn receive(socket: &OwnedFd) -> io::Result<Message> {
    let mut event = Event::default();
    let mut space = [0u64; 32];
    let mut part = libc::iovec { iov_base: (&raw mut event).cast(), iov_len: size_of::<Event>() };
    // SAFETY: all buffers are here and as large as is said; descriptors that
    // arrive are new to this process.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = space.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&space) as _;
        let got = loop {
            match sys::check(libc::recvmsg(socket.as_raw_fd(), &mut header, libc::MSG_CMSG_CLOEXEC) as i64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        let mut fds = Vec::new();
        let mut sender = 0;
        let mut control = libc::CMSG_FIRSTHDR(&header);
        while !control.is_null() {
            let data = libc::CMSG_DATA(control);
            match ((*control).cmsg_level, (*control).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                    let bytes = (*control).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                    for i in 0..bytes / size_of::<RawFd>() {
                        fds.push(OwnedFd::from_raw_fd(data.cast::<RawFd>().add(i).read_unaligned()));
                    }
                }
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => {
                    sender = data.cast::<libc::ucred>().read_unaligned().pid;
                }
                _ => {}
            }
            control = libc::CMSG_NXTHDR(&header, control);
        }
        if got != size_of::<Event>() as i64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Message { event, fds, sender })
    }
}
