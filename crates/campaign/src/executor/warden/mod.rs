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

mod inside;
mod message;
mod walk;

pub(crate) use message::{Command, Event};

use super::confine::{Confinement, Layer, Missing, User, Workplace, choose_user, count_processes, rules};
use super::error::Error;
use super::sys;
use inside::{Plan, Resource};
use libc::{c_char, c_int};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a warden starts.
pub(crate) struct Job {
    pub program: CString,
    pub arguments: Vec<CString>,
    /// `NAME=VALUE`. Pointers into shared memory for those that change.
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

/// Namespaces and what they are for.
const NAMESPACES: [(c_int, Layer); 4] = [
    (libc::CLONE_NEWNS, Layer::Scratch),
    (libc::CLONE_NEWIPC, Layer::Ipc),
    (libc::CLONE_NEWNET, Layer::Network),
    (libc::CLONE_NEWPID, Layer::Processes),
];

impl Warden {
    /// Forks the warden and waits until it is ready.
    pub fn launch(job: &Job, workplace: &mut Workplace, user: Option<User>) -> Result<Warden, Error> {
        let mut missing = Vec::new();
        // SAFETY: the calls always work.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        let mut wanted = if job.confinement.namespaces { NAMESPACES.to_vec() } else { Vec::new() };
        if job.system_v {
            wanted.retain(|(_, layer)| *layer != Layer::Ipc);
        }
        // Each round gives something up, or ends.
        loop {
            let mut found = Vec::new();
            let attempt = Attempt { job, workplace, user, uid, gid, wanted: &wanted };
            match attempt.launch(&mut found) {
                Ok((mut warden, scratch)) => {
                    missing.extend(found);
                    workplace.open(scratch).map_err(Error::system("clean the scratch folder"))?;
                    warden.missing = missing;
                    return Ok(warden);
                }
                Err(Denied::Other(error)) => return Err(error),
                Err(Denied::Namespace(why)) => {
                    let before = wanted.len();
                    let user_namespace = if uid == 0 { 0 } else { libc::CLONE_NEWUSER };
                    let permitted = |&(flag, layer): &(c_int, Layer)| match probe(flag | user_namespace) {
                        Ok(()) if layer != Layer::Scratch => true,
                        tried => {
                            let why = tried.err().map_or(why.to_string(), |error| error.to_string());
                            missing.push(Missing { layer, why });
                            false
                        }
                    };
                    wanted.retain(permitted);
                    if wanted.len() == before {
                        let given_up = wanted.drain(..);
                        missing.extend(given_up.map(|(_, layer)| Missing { layer, why: why.to_string() }));
                    }
                }
            }
        }
    }

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

    /// Asks for the end of the target and all it started.
    pub fn request_kill(&self) -> Result<(), Error> {
        self.send(Command { what: Command::KILL_ALL, a: 0 })
    }

    /// Ends what the target started but the target itself: processes from a
    /// number on. Whether there were any.
    pub fn sweep(&mut self, from: i32) -> Result<bool, Error> {
        self.send(Command { what: Command::SWEEP, a: from })?;
        let killed = self.answer()?;
        if killed < 0 {
            self.kill_all()?;
        }
        Ok(killed != 0)
    }

    /// The answer to a sweep or a ping.
    fn answer(&mut self) -> Result<i32, Error> {
        let end = Instant::now() + PATIENCE;
        while let Some(message) = self.receive(end.saturating_duration_since(Instant::now()))? {
            match message.event.what {
                Event::SWEPT => return Ok(message.event.status),
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
            unsafe { inside::kill_user(user) };
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

/// Why an attempt failed: for want of a namespace, or otherwise.
enum Denied {
    Namespace(io::Error),
    Other(Error),
}

impl From<Error> for Denied {
    fn from(error: Error) -> Denied {
        Denied::Other(error)
    }
}

/// One try to launch, with certain namespaces.
struct Attempt<'a> {
    job: &'a Job,
    workplace: &'a Workplace,
    user: Option<User>,
    uid: u32,
    gid: u32,
    wanted: &'a [(c_int, Layer)],
}

impl Attempt<'_> {
    fn launch(&self, missing: &mut Vec<Missing>) -> Result<(Warden, OwnedFd), Denied> {
        let has = |layer| self.wanted.iter().any(|(_, wanted)| *wanted == layer);
        let confinement = &self.job.confinement;
        let user = if confinement.user { self.user } else { None };
        let (control, theirs) = sys::message_pair().map_err(Error::system("make a socket"))?;
        let theirs = sys::raised(&theirs).map_err(Error::system("copy a descriptor"))?;
        let rules = confinement.landlock.then(|| rules(!has(Layer::Network), missing)).flatten();
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null");
        let null = null.and_then(|null| sys::raised(&null)).map_err(Error::system("open /dev/null"))?;
        let raise = |fd: &OwnedFd| sys::raised(fd).map_err(Error::system("copy a descriptor"));
        let stdin = raise(&self.job.stdin)?;
        let output = [raise(&self.job.output[0])?, raise(&self.job.output[1])?];
        let pass = self.job.pass.iter().map(|(fd, number)| Ok((raise(fd)?, *number)));
        let pass = pass.collect::<Result<Vec<_>, Error>>()?;
        let rules_fd = rules.as_ref().map(|rules| raise(&rules.rules)).transpose()?;

        let mut keep = vec![theirs.as_raw_fd(), null.as_raw_fd(), stdin.as_raw_fd()];
        keep.extend(output.iter().map(AsRawFd::as_raw_fd));
        keep.extend(pass.iter().map(|(fd, _)| fd.as_raw_fd()));
        keep.extend(self.job.ipc.iter().map(AsRawFd::as_raw_fd));
        keep.extend(rules_fd.iter().map(AsRawFd::as_raw_fd));
        keep.sort_unstable();
        keep.dedup();
        let pointers = |texts: &[CString], more: &[*const c_char]| -> Vec<*const c_char> {
            let own = texts.iter().map(|text| text.as_ptr());
            own.chain(more.iter().copied()).chain([std::ptr::null()]).collect()
        };
        let owner = user.unwrap_or(User { uid: self.uid, gid: self.gid, own: false });
        let mut flags = self.wanted.iter().fold(0, |flags, (flag, _)| flags | flag);
        let unprivileged = self.uid != 0 && flags != 0;
        if unprivileged {
            flags |= libc::CLONE_NEWUSER;
        }
        let plan = Plan {
            control: theirs.as_raw_fd(),
            keep,
            program: self.job.program.clone(),
            argv: pointers(&self.job.arguments, &[]),
            envp: pointers(&self.job.environment, &self.job.changing),
            stdin: stdin.as_raw_fd(),
            null: null.as_raw_fd(),
            output: [output[0].as_raw_fd(), output[1].as_raw_fd()],
            pass: pass.iter().map(|(fd, number)| (fd.as_raw_fd(), *number)).collect(),
            id_maps: unprivileged.then(|| {
                let same = |id: u32| c_string(&format!("{id} {id} 1"));
                [same(self.uid), same(self.gid)]
            }),
            pid_namespace: has(Layer::Processes),
            net_namespace: has(Layer::Network),
            ipc: self.job.ipc.as_ref().map(AsRawFd::as_raw_fd),
            scratch_mount: has(Layer::Scratch).then(|| {
                let size = confinement.scratch_bytes;
                let entries = super::confine::MAX_ENTRIES;
                let User { uid, gid, .. } = owner;
                c_string(&format!("size={size},nr_inodes={entries},mode=0700,uid={uid},gid={gid}"))
            }),
            scratch: c_path(&self.workplace.scratch()),
            files: vec![c_path(&self.workplace.input())],
            folders: vec![c_path(&self.workplace.scratch()), c_path(self.workplace.folder())],
            landlock: rules_fd.as_ref().map(AsRawFd::as_raw_fd),
            scratch_access: rules.as_ref().map_or(0, |rules| rules.access),
            user: user.map(|user| (user.uid, user.gid)),
            own_user: user.is_some_and(|user| user.own),
            no_new_privileges: true,
            limits: self.limits(user, unprivileged, missing),
            stack: vec![0; 64 << 10],
        };
        let (pid, process) = fork(flags, &plan).map_err(|error| {
            if flags == 0 {
                Denied::Other(Error::System { doing: "start a process", source: error })
            } else {
                Denied::Namespace(error)
            }
        })?;
        drop(theirs);
        let mut warden = Warden {
            control,
            process,
            pid,
            pid_namespace: plan.pid_namespace,
            missing: Vec::new(),
            other_user: user.is_some(),
            own_user: user.filter(|user| user.own).map(|user| user.uid),
            running: false,
        };
        let Some(ready) = warden.receive(PATIENCE)? else { return Err(warden.broken().into()) };
        let scratch = ready.fds.into_iter().next().ok_or_else(|| warden.broken())?;
        let failed = ready.event.step;
        if failed & (inside::NO_ID_MAP | inside::NO_MOUNT) != 0 {
            return Err(Denied::Namespace(io::Error::from_raw_os_error(ready.event.errno)));
        }
        if failed & inside::NO_SCRATCH_RULE != 0 {
            let source = io::Error::from_raw_os_error(ready.event.errno);
            return Err(Error::System { doing: "restrict what may be written", source }.into());
        }
        warden.running = false;
        Ok((warden, scratch))
    }

    fn limits(
        &self,
        user: Option<User>,
        own_count: bool,
        missing: &mut Vec<Missing>,
    ) -> Vec<(Resource, u64)> {
        let mut limits = vec![(libc::RLIMIT_CORE, 0)];
        if self.job.confinement.limits {
            let max = self.job.confinement.max_processes;
            limits.push((libc::RLIMIT_FSIZE, self.job.confinement.scratch_bytes));
            if self.uid == 0 && user.is_none() {
                missing.push(Missing { layer: Layer::ProcessLimit, why: String::new() });
            }
            // Processes are counted per user: where the target's user is not
            // its own, on top of those that are there.
            let others = if user.is_some() || own_count { 0 } else { count_processes(self.uid) };
            limits.push((libc::RLIMIT_NPROC, max + others));
        }
        if let Some(bytes) = self.job.memory {
            limits.push((libc::RLIMIT_AS, bytes));
        }
        limits
    }
}

/// Whose rights a target gets, and what is missing for that.
pub(crate) fn user_for(confinement: &Confinement, missing: &mut Vec<Missing>) -> Option<User> {
    if !confinement.user {
        return None;
    }
    choose_user().unwrap_or_else(|why| {
        missing.push(Missing { layer: Layer::User, why });
        None
    })
}

/// Whether namespaces can be made: by a process that ends at once.
fn probe(flags: c_int) -> io::Result<()> {
    // SAFETY: as `fork`; the child does nothing.
    unsafe {
        let pid = libc::syscall(libc::SYS_clone, flags as usize, 0usize, 0usize, 0usize, 0usize);
        if pid == 0 {
            libc::_exit(0);
        }
        let pid = sys::check(pid)? as libc::pid_t;
        sys::check(libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL).into()).map(drop)
    }
}

/// Makes a process that runs the plan, with a descriptor for it.
fn fork(flags: c_int, plan: &Plan) -> io::Result<(libc::pid_t, OwnedFd)> {
    let mut pidfd: c_int = -1;
    // SAFETY: without shared memory this is a fork; the child calls only what
    // is safe after one, and the plan is in its copy of the memory. Its end
    // sends no signal, so that nobody takes it in by accident.
    let pid = unsafe {
        let flags = (flags | libc::CLONE_PIDFD) as usize;
        let pid = libc::syscall(libc::SYS_clone, flags, 0usize, &raw mut pidfd, 0usize, 0usize);
        if pid == 0 {
            inside::run(plan);
        }
        sys::check(pid)? as libc::pid_t
    };
    // SAFETY: the kernel has just made it.
    Ok((pid, unsafe { OwnedFd::from_raw_fd(pidfd) }))
}

struct Message {
    event: Event,
    fds: Vec<OwnedFd>,
    sender: i32,
}

fn send(socket: &OwnedFd, command: Command) -> io::Result<()> {
    let size = size_of::<Command>();
    // SAFETY: the command is as long as is said.
    let sent =
        unsafe { libc::send(socket.as_raw_fd(), (&raw const command).cast(), size, libc::MSG_NOSIGNAL) };
    sys::check(sent as i64).map(drop)
}

fn receive(socket: &OwnedFd) -> io::Result<Message> {
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

/// A text without NUL for C.
fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// A path for C; paths hold no NUL.
pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}
