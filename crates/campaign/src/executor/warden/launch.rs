//! How a warden comes to be: in as many namespaces as the system permits.

use super::super::confine::{
    Confinement, Layer, MAX_ENTRIES, Missing, User, Workplace, choose_user, count_processes, rules,
};
use super::super::error::Error;
use super::super::sys;
use super::inside::{self, Plan, Resource};
use super::{Job, PATIENCE, Warden};
use libc::{c_char, c_int};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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
                let entries = MAX_ENTRIES;
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

/// A text without NUL for C.
fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// A path for C; paths hold no NUL.
pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}
