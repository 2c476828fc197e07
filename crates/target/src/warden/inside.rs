//! The warden itself: what runs in the process between executor and target.
//!
//! It is the first process of the target's namespaces (or a subreaper where
//! there are none), so that everything a target starts ends with it. It
//! starts the target, takes in its orphans, kills on command, and ends when
//! the executor does: then the socket between them is hung up, even if the
//! executor was killed.
//!
//! It is a fork of a process that may have threads, and never executes
//! another program, since a library has none to offer. So it calls only what
//! is safe in a signal handler: no allocation, no locks, no panics. All it
//! needs was laid out in a [`Plan`] before.
//!
//! Targets are started like `vfork` does: the new process shares memory with
//! the warden, which sleeps until exec. A copy of the page tables would be
//! most of the cost of a plain run.

use super::super::confine::sweep::{self, Rules};
use super::super::confine::{MANY, View};
use super::super::sys::LOWEST;
use super::calls::{
    add_rule, close_all_but, default_signals, errno, kill_user, micros, pipe, probe, put, raise_loopback,
    send,
};
use super::enter::{Child, enter};
use super::message::{Command, Event, Step};
use super::{mounts, walk};
use libc::{c_char, c_int, c_void, pid_t};
use std::ffi::CString;
use std::os::fd::RawFd;

/// What the C library calls a resource: musl and glibc differ.
#[cfg(target_env = "gnu")]
pub type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
pub type Resource = c_int;

/// All that a warden needs, laid out before the fork.
pub struct Plan {
    pub control: RawFd,
    /// What the warden keeps open, ascending.
    pub keep: Vec<RawFd>,
    pub program: CString,
    /// The program, opened; -1 if that was not possible.
    pub program_file: RawFd,
    /// Both end with a null pointer; what they point to lives as long.
    pub argv: Vec<*const c_char>,
    pub envp: Vec<*const c_char>,
    pub stdin: RawFd,
    pub null: RawFd,
    /// Goes to the target's standard output and error if nothing captures
    /// them.
    pub output: [RawFd; 2],
    /// Further descriptors for the target: here, and their numbers there.
    pub pass: Vec<(RawFd, RawFd)>,
    /// `uid_map` and `gid_map`, in a user namespace.
    pub id_maps: Option<[CString; 2]>,
    pub pid_namespace: bool,
    pub net_namespace: bool,
    /// An IPC namespace to enter.
    pub ipc: Option<RawFd>,
    /// A file system of the target's own, where it is mounted, and the
    /// options of the scratch folder in it.
    pub view: Option<(View, CString, CString)>,
    pub scratch: CString,
    pub scratch_rules: Rules,
    /// The executor's folder and the one that it is in; what is removed from
    /// them at the end, in this order.
    pub folder: RawFd,
    pub base: RawFd,
    pub files: Vec<CString>,
    pub folders: Vec<CString>,
    pub name: CString,
    pub landlock: Option<RawFd>,
    /// A program for seccomp.
    pub filter: Vec<libc::sock_filter>,
    /// What may be done in the scratch folder, in the bits of Landlock.
    pub scratch_access: u64,
    pub user: Option<(u32, u32)>,
    /// Whether nobody else runs as this user.
    pub own_user: bool,
    pub no_new_privileges: bool,
    pub limits: Vec<(Resource, u64)>,
    /// Where the target's process runs until exec.
    pub stack: Vec<u8>,
}

/// Bits of a ready message: what failed inside.
pub const NO_ID_MAP: u32 = 1;
pub const NO_MOUNT: u32 = 2;
pub const NO_SCRATCH_RULE: u32 = 4;
pub const NO_PROCESS_LIST: u32 = 8;

/// Never returns.
///
/// # Safety
/// To be called in a process just forked, with a plan made for it.
pub unsafe fn run(plan: &Plan) -> ! {
    // SAFETY: all calls below are safe after a fork, pointers come from the
    // plan, which outlives this process.
    unsafe {
        close_all_but(&plan.keep);
        for fd in 0..3 {
            libc::dup2(plan.null, fd);
        }
        default_signals();
        libc::setsid();
        if !plan.pid_namespace {
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        }
        let mut warden = Warden { plan, target: 0, scratch: -1 };
        let mut ready = warden.prepare();
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let scratch = libc::open(plan.scratch.as_ptr(), flags);
        warden.scratch = libc::fcntl(scratch, libc::F_DUPFD_CLOEXEC, LOWEST);
        libc::close(scratch);
        if ready.step == 0
            && let Some(ruleset) = plan.landlock
            && add_rule(ruleset, warden.scratch, plan.scratch_access) != 0
        {
            ready = Event { step: NO_SCRATCH_RULE, errno: errno(), ..ready };
        }
        warden.tell(ready, &[warden.scratch]);
        warden.serve()
    }
}

struct Warden<'a> {
    plan: &'a Plan,
    /// The target, or its fork server; 0 if none runs.
    target: pid_t,
    /// The scratch folder.
    scratch: RawFd,
}

impl Warden<'_> {
    /// Sets the namespaces up; a bit for each part that failed.
    unsafe fn prepare(&self) -> Event {
        let mut ready = Event { what: Event::READY, ..Event::default() };
        // SAFETY: see `run`.
        unsafe {
            // Without it, the target finds no memory and says so.
            if let Some(space) = self.plan.ipc {
                libc::setns(space, libc::CLONE_NEWIPC);
                libc::close(space);
            }
            if let Some([users, groups]) = &self.plan.id_maps {
                let wrote = put(c"/proc/self/setgroups", c"deny")
                    && put(c"/proc/self/uid_map", users)
                    && put(c"/proc/self/gid_map", groups);
                if !wrote {
                    return Event { step: NO_ID_MAP, errno: errno(), ..ready };
                }
            }
            if self.plan.net_namespace {
                raise_loopback();
            }
            if let Some((view, at, scratch)) = &self.plan.view {
                match mounts::enter(view, at, scratch, self.plan.pid_namespace) {
                    mounts::Made::Whole => {}
                    mounts::Made::WithoutProcesses => ready.step = NO_PROCESS_LIST,
                    mounts::Made::Failed(step, errno) => {
                        return Event { step: NO_MOUNT, status: step as c_int, errno, ..ready };
                    }
                }
            }
        }
        ready
    }

    /// Answers commands and buries the dead, until the executor is gone.
    unsafe fn serve(&mut self) -> ! {
        // SAFETY: see `run`.
        unsafe {
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut mask);
            libc::sigaddset(&mut mask, libc::SIGCHLD);
            libc::sigprocmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut());
            let children = libc::signalfd(-1, &mask, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            loop {
                let mut polled = [
                    libc::pollfd { fd: self.plan.control, events: libc::POLLIN, revents: 0 },
                    libc::pollfd { fd: children, events: libc::POLLIN, revents: 0 },
                ];
                if libc::poll(polled.as_mut_ptr(), 2, -1) < 0 && errno() != libc::EINTR {
                    self.end();
                }
                if polled[1].revents != 0 {
                    let mut info: libc::signalfd_siginfo = std::mem::zeroed();
                    let size = size_of::<libc::signalfd_siginfo>();
                    while libc::read(children, (&raw mut info).cast(), size) > 0 {}
                    self.reap();
                }
                if polled[0].revents != 0 {
                    let mut command = Command { what: 0, a: 0 };
                    let size = size_of::<Command>();
                    let got = libc::recv(self.plan.control, (&raw mut command).cast(), size, 0);
                    if got == size as isize {
                        self.obey(command);
                    } else if got >= 0 || errno() != libc::EINTR {
                        self.end();
                    }
                }
            }
        }
    }

    unsafe fn obey(&mut self, command: Command) {
        // SAFETY: see `run`.
        unsafe {
            match command.what {
                Command::START => self.start(command.a),
                // In a namespace all numbers are the target's own.
                Command::KILL if command.a <= 1 => {}
                Command::KILL if self.plan.pid_namespace => {
                    libc::kill(command.a, libc::SIGKILL);
                }
                Command::KILL => walk::kill_child_of(self.target, command.a),
                Command::STOP if self.target > 0 => {
                    libc::kill(self.target, wug_runtime::abi::STOP_SIGNAL);
                }
                Command::KILL_ALL => self.kill_all(),
                Command::PING => self.tell(Event { what: Event::SWEPT, ..Event::default() }, &[]),
                Command::SWEEP => {
                    let (killed, pid) = self.sweep(command.a.max(2));
                    self.tell(Event { what: Event::SWEPT, status: killed, pid, ..Event::default() }, &[]);
                }
                _ => {}
            }
        }
    }

    /// Takes in all that ended; tells of the target.
    unsafe fn reap(&mut self) {
        // SAFETY: see `run`.
        unsafe {
            loop {
                let mut status = 0;
                let mut usage: libc::rusage = std::mem::zeroed();
                let pid = libc::wait4(-1, &mut status, libc::WNOHANG | libc::__WALL, &mut usage);
                if pid <= 0 {
                    return;
                }
                if pid != self.target {
                    continue;
                }
                self.target = 0;
                self.bury();
                let cpu_us = micros(&usage.ru_utime) + micros(&usage.ru_stime);
                self.tell(Event { what: Event::ENDED, status, pid, cpu_us, ..Event::default() }, &[]);
            }
        }
    }

    /// Kills everything but this process.
    unsafe fn kill_all(&self) {
        // SAFETY: see `run`. In a namespace, -1 means all of it but this
        // process, which is its first.
        unsafe {
            match self.plan.user {
                _ if self.plan.pid_namespace => drop(libc::kill(-1, libc::SIGKILL)),
                Some((user, _)) if self.plan.own_user => kill_user(user),
                _ => drop(walk::kill_descendants(0)),
            }
        }
    }

    /// Kills and takes in what the target left behind.
    unsafe fn bury(&self) {
        // SAFETY: see `run`.
        unsafe {
            loop {
                let pid = libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG | libc::__WALL);
                if pid < 0 {
                    return;
                }
                if pid == 0 {
                    self.kill_all();
                    libc::waitpid(-1, std::ptr::null_mut(), libc::__WALL);
                }
            }
        }
    }

    /// Kills all processes from a number on, but the target itself and,
    /// without a namespace, its children. How many there were, -1 if some
    /// may be left; and in a namespace, the last number that was given out.
    unsafe fn sweep(&mut self, first: pid_t) -> (c_int, pid_t) {
        let mut killed = 0;
        let mut last = 0;
        // SAFETY: see `run`.
        unsafe {
            // Processes that fork while they are killed meet the limit of
            // processes, so that a few rounds reach all.
            for round in 0..1000 {
                let alive = if self.plan.pid_namespace {
                    last = probe();
                    self.kill_between(first, last)
                } else {
                    walk::kill_descendants(self.target)
                };
                self.reap();
                killed = if round == 0 { alive } else { killed };
                if alive <= 0 {
                    return (if alive < 0 { alive } else { killed }, last);
                }
                let pause = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
                libc::nanosleep(&pause, std::ptr::null_mut());
            }
        }
        (-1, last)
    }

    unsafe fn kill_between(&self, first: pid_t, last: pid_t) -> c_int {
        // SAFETY: see `run`.
        unsafe {
            let kill = |pid: &pid_t| *pid != self.target && libc::kill(*pid, libc::SIGKILL) == 0;
            if last < 0 { -1 } else { (first..last).filter(kill).count() as c_int }
        }
    }

    unsafe fn tell(&self, event: Event, fds: &[RawFd]) {
        // SAFETY: see `run`.
        unsafe { send(self.plan.control, &event, fds) }
    }

    /// The executor is gone: so are the target and what was made for it.
    unsafe fn end(&self) -> ! {
        // SAFETY: see `run`.
        unsafe {
            self.kill_all();
            self.bury();
            // A scratch folder of the view is gone with the view.
            if self.plan.view.is_none() {
                sweep::sweep(self.scratch, &self.plan.scratch_rules, MANY);
            }
            for file in &self.plan.files {
                libc::unlinkat(self.plan.folder, file.as_ptr(), 0);
            }
            for folder in &self.plan.folders {
                libc::unlinkat(self.plan.folder, folder.as_ptr(), libc::AT_REMOVEDIR);
            }
            libc::unlinkat(self.plan.base, self.plan.name.as_ptr(), libc::AT_REMOVEDIR);
            libc::_exit(0)
        }
    }

    unsafe fn start(&mut self, flags: c_int) {
        // SAFETY: see `run`.
        unsafe {
            let serves = flags & Command::SERVER != 0;
            let mut control = [-1; 2];
            let mut status = [-1; 2];
            let mut output = [-1; 2];
            let made = (!serves || (pipe(&mut control) && pipe(&mut status)))
                && (flags & Command::OUTPUT == 0 || pipe(&mut output));
            let child = Child {
                plan: self.plan,
                control: control[0],
                status: status[1],
                output: output[1],
                hold: flags & Command::HOLD != 0,
            };
            let ours = [control[1], status[0], output[0]];
            let theirs = [control[0], status[1], output[1]];
            let mut pid = -1;
            if made {
                let stack = self.plan.stack.as_ptr().add(self.plan.stack.len());
                // A process that is held must not keep the warden asleep.
                let share = if child.hold { 0 } else { libc::CLONE_VM | libc::CLONE_VFORK };
                let argument = (&raw const child).cast_mut().cast::<c_void>();
                pid = libc::clone(enter, stack.cast_mut().cast(), share | libc::SIGCHLD, argument);
            }
            if pid > 0 {
                self.target = pid;
                self.tell(Event { what: Event::STARTED, pid, ..Event::default() }, &ours);
            } else {
                let step = if made { Step::Clone } else { Step::Pipes } as u32;
                self.tell(Event { what: Event::FAILED, step, errno: errno(), ..Event::default() }, &[]);
            }
            for fd in ours.into_iter().chain(theirs) {
                if fd >= 0 {
                    libc::close(fd);
                }
            }
        }
    }
}
