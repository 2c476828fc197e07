//! How a warden comes to be: in as many namespaces as the system permits.

use super::super::confine::sweep::Rules;
use super::super::confine::view::readable;
use super::super::confine::{
    Allowed, Confinement, Layer, MAX_ENTRIES, Missing, User, View, Workplace, choose_user, count_processes,
    filter, rules,
};
use super::super::error::Error;
use super::super::sys;
use super::super::target::replaced;
use super::inside::{self, Plan, Resource};
use super::{Job, PATIENCE, Warden};
use libc::{c_char, c_int};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Namespaces and what they are for.
const NAMESPACES: [(c_int, Layer); 4] = [
    (libc::CLONE_NEWNS, Layer::View),
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
        if !job.confinement.view {
            wanted.retain(|(_, layer)| *layer != Layer::View);
        }
        if job.system_v {
            wanted.retain(|(_, layer)| *layer != Layer::Ipc);
        }
        // Each round gives something up, or ends.
        loop {
            let mut found = Vec::new();
            let attempt = Attempt { job, workplace, user, uid, gid, wanted: &wanted };
            match attempt.launch(&mut found) {
                Ok((mut warden, scratch, rules)) => {
                    missing.extend(found);
                    workplace.open(scratch, rules).map_err(Error::system("clean the scratch folder"))?;
                    warden.missing = missing;
                    return Ok(warden);
                }
                Err(Denied::Other(error)) => return Err(error),
                Err(Denied::View(why)) => {
                    wanted.retain(|(_, layer)| *layer != Layer::View);
                    missing.push(Missing { layer: Layer::View, why });
                }
                Err(Denied::Namespace(why)) => {
                    let before = wanted.len();
                    let user_namespace = if uid == 0 { 0 } else { libc::CLONE_NEWUSER };
                    let permitted = |&(flag, layer): &(c_int, Layer)| match probe(flag | user_namespace) {
                        Ok(()) => true,
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
    View(String),
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
    fn launch(&self, missing: &mut Vec<Missing>) -> Result<(Warden, OwnedFd, Rules), Denied> {
        let has = |layer| self.wanted.iter().any(|(_, wanted)| *wanted == layer);
        let confinement = &self.job.confinement;
        let shown = &self.job.shown;
        let view = has(Layer::View).then(|| View::of(shown, &self.workplace.input(false)));
        let in_view = view.is_some();
        let copied = match in_view || !confinement.user || self.user.is_none() {
            true => None,
            false => self
                .workplace
                .program_for_stranger(&shown.program)
                .map_err(Error::system("copy the program"))?,
        };
        let program = copied.as_ref().unwrap_or(&shown.program);
        let user = if confinement.user { self.user } else { None };
        let (control, theirs) = sys::message_pair().map_err(Error::system("make a socket"))?;
        let theirs = sys::raised(&theirs).map_err(Error::system("copy a descriptor"))?;
        let read = || {
            let mut paths = readable(shown);
            paths.extend([self.workplace.input(false), program.clone()]);
            paths
        };
        let allowed =
            Allowed { write: &shown.write, read: (!in_view).then(read), network: has(Layer::Network) };
        let rules = confinement.landlock.then(|| rules(&allowed, missing)).flatten();
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
        let open = |path: &Path| {
            let flags = libc::O_PATH | libc::O_CLOEXEC;
            // SAFETY: the path ends in NUL.
            let fd = sys::owned(unsafe { libc::open(c_path(path).as_ptr(), flags) });
            fd.and_then(|fd| sys::raised(&fd))
        };
        let folder = open(self.workplace.folder()).map_err(Error::system("open the target's folder"))?;
        let outer = self.workplace.folder().parent().unwrap_or(Path::new("/"));
        let base = open(outer).map_err(Error::system("open the target's folder"))?;
        let program_file = open(program).ok();
        keep.extend([&folder, &base].map(|fd| fd.as_raw_fd()));
        keep.extend(program_file.iter().map(AsRawFd::as_raw_fd));
        keep.sort_unstable();
        keep.dedup();
        let pointers = |texts: &[CString], more: &[*const c_char]| -> Vec<*const c_char> {
            let own = texts.iter().map(|text| text.as_ptr());
            own.chain(more.iter().copied()).chain([std::ptr::null()]).collect()
        };
        let input = self.workplace.input(in_view);
        let mut arguments = Vec::new();
        for argument in &self.job.arguments {
            arguments.push(c_text(&replaced(argument, input.as_os_str()))?);
        }
        let mut environment = self.job.environment.clone();
        let mut folder_variable = OsString::from("TMPDIR=");
        folder_variable.push(self.workplace.scratch(in_view));
        environment.push(c_text(&folder_variable)?);
        let scratch_rules = self.workplace.rules(view.as_ref());
        let filter = if confinement.seccomp && filter::is_there() {
            filter::program(filter::Open {
                network: !has(Layer::Network),
                files: !in_view,
                owner: user.is_none(),
                processes: !has(Layer::Processes),
                ipc: !has(Layer::Ipc) && self.job.ipc.is_none(),
            })
        } else {
            Vec::new()
        };
        if confinement.seccomp && filter.is_empty() {
            missing.push(Missing { layer: Layer::Calls, why: "not in this kernel".into() });
        }
        let mut flags = self.wanted.iter().fold(0, |flags, (flag, _)| flags | flag);
        let unprivileged = self.uid != 0 && flags != 0;
        if unprivileged {
            flags |= libc::CLONE_NEWUSER;
        }
        let plan = Plan {
            control: theirs.as_raw_fd(),
            keep,
            program: c_path(program),
            program_file: program_file.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            argv: pointers(&arguments, &[]),
            envp: pointers(&environment, &self.job.changing),
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
            view: view.map(|view| {
                let (size, entries) = (confinement.scratch_bytes, MAX_ENTRIES);
                let (uid, gid, mode) = (self.uid, self.gid, scratch_rules.mode);
                let options = format!("size={size},nr_inodes={entries},mode={mode:o},uid={uid},gid={gid}");
                (view, c_path(&self.workplace.root()), c_string(&options))
            }),
            scratch: c_path(&self.workplace.scratch(in_view)),
            scratch_rules: scratch_rules.clone(),
            folder: folder.as_raw_fd(),
            base: base.as_raw_fd(),
            files: vec![c"input".into(), c"program".into()],
            folders: vec![c"scratch".into(), c"root".into()],
            name: c_path(self.workplace.folder().file_name().unwrap_or_default().as_ref()),
            landlock: rules_fd.as_ref().map(AsRawFd::as_raw_fd),
            filter,
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
        let failed = ready.event.step;
        if failed & (inside::NO_ID_MAP | inside::NO_MOUNT) != 0 {
            // It must not remove what the next one needs.
            warden.put_down()?;
        }
        if failed & inside::NO_ID_MAP != 0 {
            return Err(Denied::Namespace(io::Error::from_raw_os_error(ready.event.errno)));
        }
        if failed & inside::NO_MOUNT != 0 {
            let step = (ready.event.status as usize).checked_sub(1);
            let step = step.and_then(|step| plan.view.as_ref()?.0.steps.get(step));
            let why = io::Error::from_raw_os_error(ready.event.errno);
            return Err(Denied::View(match step {
                Some(step) => format!("{step}: {why}"),
                None => why.to_string(),
            }));
        }
        if failed & inside::NO_PROCESS_LIST != 0 {
            missing.push(Missing { layer: Layer::ProcessList, why: String::new() });
        }
        let scratch = ready.fds.into_iter().next().ok_or_else(|| warden.broken())?;
        if failed & inside::NO_SCRATCH_RULE != 0 {
            let source = io::Error::from_raw_os_error(ready.event.errno);
            return Err(Error::System { doing: "restrict what may be written", source }.into());
        }
        warden.running = false;
        Ok((warden, scratch, scratch_rules))
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

/// An argument for C.
fn c_text(text: &OsStr) -> Result<CString, Error> {
    let nul = |error: std::ffi::NulError| Error::System { doing: "pass an argument", source: error.into() };
    CString::new(text.as_bytes()).map_err(nul)
}

/// A path for C; paths hold no NUL.
pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}
