//! The process between the executor and its target: the executor's side.
//!
//! In:  what to run, and how it is confined.
//! Out: a [`Warden`] that starts the target as often as it is asked to, and
//!      ends everything the target started, also when this process is
//!      killed.
//!
//! `inside` runs in the warden's process; the two talk over a socket
//! (`message`). There is one warden for the life of an executor: forking it
//! copies page tables, and a copy that lives long keeps old pages of this
//! process in memory, so it is made once, early.

mod calls;
mod enter;
mod inside;
mod launch;
mod message;
mod mounts;
mod walk;
mod wire;

pub(crate) use launch::user_for;
pub(crate) use message::{Command, Event};

use super::confine::{Confinement, Missing, Shown};
use super::error::Error;
use super::sys;
use libc::{c_char, c_int};
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use wire::{Message, receive, send};

/// What a warden starts.
pub(crate) struct Job {
    /// The program, its libraries, and what else it sees of the machine.
    pub shown: Shown,
    /// With `@@` where the path of the input goes.
    pub arguments: Vec<OsString>,
    /// `NAME=VALUE`.
    pub environment: Vec<CString>,
    /// Further entries, which live in memory shared with the warden: what is
    /// written there holds for the next start.
    pub changing: Vec<*const c_char>,
    pub stdin: OwnedFd,
    /// Standard output and error.
    pub output: [OwnedFd; 2],
    /// Further descriptors, with their numbers in the target.
    pub pass: Vec<(OwnedFd, RawFd)>,
    /// System V memory of this process must be reachable.
    pub system_v: bool,
    /// The namespace that it is in, if that is another.
    pub ipc: Option<OwnedFd>,
    pub memory: Option<u64>,
    pub confinement: Confinement,
}

// SAFETY: the pointers lead to memory that the executor owns as well, and that
// only the warden's process reads through them.
unsafe impl Send for Job {}

/// A warden that runs.
#[derive(Debug)]
pub(crate) struct Warden {
    control: OwnedFd,
    process: OwnedFd,
    pid: libc::pid_t,
    /// Where numbers of processes are the target's own.
    pub pid_namespace: bool,
    pub missing: Vec<Missing>,
    other_user: bool,
    /// A user that is the target's alone.
    own_user: Option<u32>,
    running: bool,
}

/// How a target ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub status: i32,
    pub cpu: Duration,
}

/// What comes with a target that was started.
#[derive(Debug, Default)]
pub(crate) struct Started {
    /// Its number: in its own namespace, if there is one.
    pub pid: i32,
    /// In the order in which they were asked for.
    pub pipes: Vec<OwnedFd>,
    /// The number of a held process in this process' namespace.
    pub outer_pid: i32,
}

/// What a warden that works needs at most for anything but a target.
const PATIENCE: Duration = Duration::from_secs(20);

impl Warden {
    /// Starts the target; `flags` as in [`Command`].
    pub fn start(&mut self, flags: i32) -> Result<Started, Error> {
        if flags & Command::HOLD != 0 {
            self.tell_senders(true)?;
        }
        self.send(Command { what: Command::START, a: flags })?;
        let mut failed = None;
        let mut started: Option<Started> = None;
        let end = Instant::now() + PATIENCE;
        loop {
            let Some(message) = self.receive(end.saturating_duration_since(Instant::now()))? else {
                return Err(self.broken());
            };
            let event = message.event;
            match event.what {
                Event::FAILED => {
                    failed = Some(Error::Start {
                        doing: message::Step::text(event.step),
                        other_user: self.other_user,
                        source: io::Error::from_raw_os_error(event.errno),
                    });
                    if event.step <= message::Step::Clone as u32 {
                        break;
                    }
                }
                Event::STARTED => {
                    self.running = true;
                    let outer_pid = started.map_or(0, |held| held.outer_pid);
                    started = Some(Started { pid: event.pid, pipes: message.fds, outer_pid });
                }
                // It may come before the word that the target was started.
                Event::HELD => started.get_or_insert_default().outer_pid = message.sender,
                Event::ENDED => {
                    self.running = false;
                    if failed.is_some() {
                        break;
                    }
                }
                _ => {}
            }
            let held = flags & Command::HOLD == 0 || started.as_ref().is_some_and(|s| s.outer_pid != 0);
            if failed.is_none() && held && started.as_ref().is_some_and(|s| s.pid != 0) {
                break;
            }
        }
        if flags & Command::HOLD != 0 {
            self.tell_senders(false)?;
        }
        match (failed, started) {
            (Some(error), _) => Err(error),
            (None, Some(started)) => Ok(started),
            (None, None) => Err(self.broken()),
        }
    }

    /// Waits for the end of the target; None if the time is up before.
    pub fn ended(&mut self, limit: Duration) -> Result<Option<Ended>, Error> {
        let end = Instant::now() + limit;
        while let Some(message) = self.receive(end.saturating_duration_since(Instant::now()))? {
            if message.event.what == Event::ENDED {
                self.running = false;
                let cpu = Duration::from_micros(message.event.cpu_us);
                return Ok(Some(Ended { status: message.event.status, cpu }));
            }
        }
        Ok(None)
    }

    /// Ends the target and all it started, and waits until they are gone.
    pub fn kill_all(&mut self) -> Result<Option<Ended>, Error> {
        if !self.running {
            return Ok(None);
        }
        self.send(Command { what: Command::KILL_ALL, a: 0 })?;
        match self.ended(PATIENCE)? {
            Some(ended) => Ok(Some(ended)),
            None => Err(self.broken()),
        }
    }

    /// Ends it with all that it watches over, but leaves the target's folder as
    /// it is, for the warden that takes its place.
    pub fn put_down(&mut self) -> Result<(), Error> {
        self.kill_all()?;
        sys::signal(&self.process, libc::SIGKILL).map_err(Error::system("end a process"))?;
        let gone = sys::readable([self.process.as_raw_fd()], PATIENCE);
        gone.map_err(Error::system("end a process")).map(drop)
    }

    /// Asks for the end of the target and all it started.
    pub fn request_kill(&self) -> Result<(), Error> {
        self.send(Command { what: Command::KILL_ALL, a: 0 })
    }

    /// Ends what the target started but the target itself: processes from a
    /// number on. Whether there were any; and the last number given out, 0
    /// where that is not known.
    pub fn sweep(&mut self, from: i32) -> Result<(bool, i32), Error> {
        self.send(Command { what: Command::SWEEP, a: from })?;
        let Event { status: killed, pid: last, .. } = self.answer()?;
        if killed < 0 {
            self.kill_all()?;
        }
        Ok((killed != 0, last.max(0)))
    }

    /// The answer to a sweep or a ping.
    fn answer(&mut self) -> Result<Event, Error> {
        let end = Instant::now() + PATIENCE;
        while let Some(message) = self.receive(end.saturating_duration_since(Instant::now()))? {
            match message.event.what {
                Event::SWEPT => return Ok(message.event),
                Event::ENDED => self.running = false,
                _ => {}
            }
        }
        Err(self.broken())
    }

    /// Waits until all commands so far are done.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.send(Command { what: Command::PING, a: 0 })?;
        self.answer().map(drop)
    }

    /// Whether it has ended, by whatever hand. Its end of the socket is closed
    /// a little before; then its end is waited for.
    pub fn is_gone(&self) -> bool {
        let mut byte = 0u8;
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        // SAFETY: there is room for one byte.
        let got = unsafe { libc::recv(self.control.as_raw_fd(), (&raw mut byte).cast(), 1, flags) };
        got == 0 && matches!(sys::readable([self.process.as_raw_fd()], PATIENCE), Ok(Some(_)))
    }

    /// A handle to send commands from another thread.
    pub fn commander(&self) -> Result<Commander, Error> {
        let control = self.control.try_clone().map_err(Error::system("copy a descriptor"))?;
        Ok(Commander { control })
    }

    /// The descriptor on which news come.
    pub fn descriptor(&self) -> RawFd {
        self.control.as_raw_fd()
    }

    fn send(&self, command: Command) -> Result<(), Error> {
        send(&self.control, command).map_err(Error::system("reach the warden of the target"))
    }

    fn broken(&self) -> Error {
        Error::System { doing: "reach the warden of the target", source: io::ErrorKind::TimedOut.into() }
    }

    /// The next message, if one comes in time.
    fn receive(&self, limit: Duration) -> Result<Option<Message>, Error> {
        let failed = "hear from the warden of the target";
        if sys::readable([self.control.as_raw_fd()], limit).map_err(Error::system(failed))?.is_none() {
            return Ok(None);
        }
        receive(&self.control).map(Some).map_err(Error::system(failed))
    }

    /// Whether messages tell who sent them.
    fn tell_senders(&self, on: bool) -> Result<(), Error> {
        let value = c_int::from(on);
        // SAFETY: the option is an int.
        let result = unsafe {
            let size = size_of::<c_int>() as u32;
            let fd = self.control.as_raw_fd();
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_PASSCRED, (&raw const value).cast(), size)
        };
        sys::check(result.into()).map_err(Error::system("ask for the senders of messages"))?;
        Ok(())
    }
}

impl Drop for Warden {
    /// The warden ends when nobody can reach it any more; if it does not, it
    /// is killed, and its namespace with it.
    fn drop(&mut self) {
        // SAFETY: no memory is involved; the descriptor is open.
        unsafe { libc::shutdown(self.control.as_raw_fd(), libc::SHUT_RDWR) };
        let gone = sys::readable([self.process.as_raw_fd()], PATIENCE);
        if !matches!(gone, Ok(Some(_))) {
            let _ = sys::signal(&self.process, libc::SIGKILL);
        }
        let mut status = 0;
        // SAFETY: this process alone takes it in, so the number is still its.
        unsafe { libc::waitpid(self.pid, &mut status, libc::__WALL) };
        // A warden that was killed left its work undone; its namespace did
        // that, if it has one.
        if let (false, Some(user), true) = (self.pid_namespace, self.own_user, status != 0) {
            // SAFETY: nobody else runs as this user.
            unsafe { calls::kill_user(user) };
        }
    }
}

/// Sends commands that need no answer.
#[derive(Debug)]
pub(crate) struct Commander {
    control: OwnedFd,
}

impl Commander {
    /// Ends a child of the target.
    pub fn kill(&self, pid: i32) {
        // If the warden is gone, so is the child.
        let _ = send(&self.control, Command { what: Command::KILL, a: pid });
    }

    /// Tells a fork server of ours to end its run.
    pub fn stop(&self) {
        let _ = send(&self.control, Command { what: Command::STOP, a: 0 });
    }

    /// Ends the target and all it started.
    pub fn kill_all(&self) {
        let _ = send(&self.control, Command { what: Command::KILL_ALL, a: 0 });
    }
}
