//! From a process just made to the target: descriptors, limits, rights, exec.
//! Safe after a fork, as all of the warden.

use super::calls::{errno, send};
use super::inside::Plan;
use super::message::{Event, Step};
use libc::{c_int, c_void};
use std::os::fd::RawFd;

/// What the new process needs to become the target.
pub struct Child<'a> {
    pub plan: &'a Plan,
    pub control: RawFd,
    pub status: RawFd,
    pub output: RawFd,
    pub hold: bool,
}

/// Becomes the target. On failure, the executor is told from here: memory
/// may or may not be shared with the warden.
pub extern "C" fn enter(argument: *mut c_void) -> c_int {
    // SAFETY: `start` passes a `Child` that lives until exec or exit; the
    // calls are safe after a fork.
    unsafe {
        let child = &*argument.cast::<Child>();
        let plan = child.plan;
        let step = become_target(child);
        let event = Event { what: Event::FAILED, step: step as u32, errno: errno(), ..Event::default() };
        send(plan.control, &event, &[]);
        libc::_exit(127)
    }
}

/// Installs a program for seccomp.
unsafe fn filter_calls(filter: &[libc::sock_filter]) -> bool {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program. Speculation stays as it is: a
    // filter that slows the target down would be switched off by its users.
    unsafe {
        let install = |flags: libc::c_ulong| {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) == 0
        };
        install(libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW as libc::c_ulong) || install(0)
    }
}

/// Returns only if a step failed.
unsafe fn become_target(child: &Child) -> Step {
    // SAFETY: see `enter`.
    unsafe {
        let plan = child.plan;
        if libc::setsid() < 0 {
            return Step::Session;
        }
        let [out, err] = if child.output >= 0 { [child.output; 2] } else { plan.output };
        let places = [(plan.stdin, 0), (out, 1), (err, 2), (child.control, 198), (child.status, 199)];
        for (from, to) in places.into_iter().chain(plan.pass.iter().copied()) {
            if from >= 0 && libc::dup2(from, to) < 0 {
                return Step::Descriptors;
            }
        }
        for &(resource, value) in &plan.limits {
            let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
            if libc::setrlimit(resource, &limit) != 0 {
                return Step::Limits;
            }
        }
        if let Some((user, group)) = plan.user {
            // The bare calls: those of the C library would look for threads.
            if libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<u32>()) != 0 {
                return Step::Groups;
            }
            if libc::syscall(libc::SYS_setresgid, group, group, group) != 0
                || libc::syscall(libc::SYS_setresuid, user, user, user) != 0
            {
                return Step::User;
            }
        }
        if plan.no_new_privileges && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Step::Privileges;
        }
        // After the change of user, which would clear it.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if let Some(ruleset) = plan.landlock
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) != 0
        {
            return Step::Landlock;
        }
        if !plan.filter.is_empty() && !filter_calls(&plan.filter) {
            return Step::Seccomp;
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        if child.hold {
            send(plan.control, &Event { what: Event::HELD, ..Event::default() }, &[]);
            libc::kill(libc::getpid(), libc::SIGSTOP);
        }
        libc::execve(plan.program.as_ptr(), plan.argv.as_ptr(), plan.envp.as_ptr());
        if errno() == libc::EACCES && plan.program_file >= 0 {
            // In a folder that the target's user cannot enter.
            let (empty, flags) = (c"".as_ptr(), libc::AT_EMPTY_PATH);
            let (argv, envp) = (plan.argv.as_ptr(), plan.envp.as_ptr());
            libc::syscall(libc::SYS_execveat, plan.program_file, empty, argv, envp, flags);
        }
        Step::Exec
    }
}
