//! A traced process with all its threads: stops at its signals, its registers
//! and memory.

use super::super::sys;
use super::module::Modules;
use super::unwind::{self, Fault, Space};
use super::{Frame, maps, symbols};
use libc::{c_int, c_void, pid_t};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// A process under trace. It is killed with this one.
pub struct Tracee {
    pid: pid_t,
    threads: Vec<Thread>,
    /// Whether calls to the system are watched, to see memory refused.
    calls: bool,
    /// The thread that has stopped for a fatal signal, by its place.
    stopped: usize,
    /// Paths that calls did not find, if these are watched.
    missed: Option<Vec<PathBuf>>,
    /// Fatal signals so far, the last ones, and where the thread was then.
    faults: Vec<(u64, Fault)>,
    /// It ended, and that was seen.
    gone: bool,
}

struct Thread {
    tid: pid_t,
    /// The signal that it stopped for.
    pending: c_int,
    inside_call: bool,
}

/// What happened to it.
pub enum News {
    /// A signal came that is fatal unless it is handled. It waits.
    Fatal,
    /// The system refused it memory.
    Refused,
    /// Something that does not matter; it goes on.
    Other,
    /// It ended.
    Gone,
}

/// Signals by which programs crash.
pub const FATAL: [c_int; 9] = [
    libc::SIGSEGV,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGXFSZ,
    libc::SIGXCPU,
];

/// Paths that are remembered.
const MAX_PATHS: usize = 10_000;
/// Signals that are remembered: a handler may raise a further one.
const MAX_FAULTS: usize = 16;

/// How often, and how far apart, a killed process is looked for: it ends at
/// once unless a device keeps it.
const LOOKS: u32 = 10_000;
const LOOK: Duration = Duration::from_millis(1);

/// Waits until a process that is about to stop itself has done so.
fn await_stop(pid: i32) {
    for _ in 0..20_000 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
        if state.is_none_or(|state| matches!(state, 'T' | 't' | 'Z' | 'X')) {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

impl Tracee {
    /// Attaches to a process that stopped itself before exec, and lets it go.
    pub fn attach(pid: i32, calls: bool) -> io::Result<Tracee> {
        if pid <= 1 {
            return Err(io::ErrorKind::NotFound.into());
        }
        await_stop(pid);
        let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE;
        // SAFETY: no memory is involved.
        let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0usize, options as usize) };
        let attached = sys::check(seized as i64);
        // Whether traced or not, it must go on: it waits for this. It is held
        // and cannot have ended, so the number is its own.
        // SAFETY: as above.
        unsafe { libc::kill(pid, libc::SIGCONT) };
        attached?;
        Ok(Tracee {
            pid,
            threads: vec![Thread::new(pid)],
            calls,
            stopped: 0,
            missed: None,
            faults: Vec::new(),
            gone: false,
        })
    }

    /// Remembers paths that calls do not find from now on.
    pub fn watch_paths(&mut self) {
        self.missed = Some(Vec::new());
    }

    /// The paths that were not found.
    pub fn missed(mut self) -> Vec<PathBuf> {
        self.missed.take().unwrap_or_default()
    }

    /// What happened since; None if nothing did.
    pub fn next(&mut self) -> Option<News> {
        let mut at = 0;
        while at < self.threads.len() {
            let mut status = 0;
            let tid = self.threads[at].tid;
            // SAFETY: a tracee is waited for by its tracer alone.
            let got = unsafe { libc::waitpid(tid, &mut status, libc::WNOHANG | libc::__WALL) };
            if got == 0 {
                at += 1;
                continue;
            }
            if got < 0 || !libc::WIFSTOPPED(status) {
                if tid == self.pid {
                    self.gone = true;
                    return Some(News::Gone);
                }
                self.threads.remove(at);
                return Some(News::Other);
            }
            return Some(self.stop(at, status));
        }
        None
    }

    /// A thread has stopped.
    fn stop(&mut self, at: usize, status: c_int) -> News {
        self.stopped = at;
        let (tid, signal) = (self.threads[at].tid, libc::WSTOPSIG(status));
        let thread = &mut self.threads[at];
        if signal == libc::SIGTRAP | 0x80 {
            thread.inside_call = !thread.inside_call;
            let leaves = !thread.inside_call;
            thread.pending = 0;
            let refused = leaves && self.refused();
            if leaves {
                self.note_path();
            }
            self.resume();
            return if refused { News::Refused } else { News::Other };
        }
        // Events, such as the end of a stop, are not signals.
        let event = status >> 16;
        thread.pending = if event != 0 { 0 } else { signal };
        if event == libc::PTRACE_EVENT_CLONE {
            let mut new: libc::c_ulong = 0;
            // SAFETY: there is room for the number.
            let got = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, 0usize, &raw mut new) };
            if got == 0 {
                self.threads.push(Thread::new(new as pid_t));
            }
        } else if event == 0 && FATAL.contains(&signal) {
            return News::Fatal;
        }
        self.resume();
        News::Other
    }

    /// Lets the thread that stopped last go on, with the signal that it
    /// stopped for.
    pub fn resume(&mut self) {
        let how = if self.calls { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
        let Some(thread) = self.threads.get(self.stopped) else { return };
        // SAFETY: no memory is involved; if it was killed meanwhile, the call
        // fails and the next wait tells.
        unsafe { libc::ptrace(how, thread.tid, 0usize, thread.pending as usize) };
    }

    /// The functions that are under way, and whether the stack is used up.
    pub fn stack(&mut self, modules: &mut Modules) -> (Vec<Frame>, bool) {
        let Some(registers) = self.registers() else { return Default::default() };
        let maps = maps::maps(self.pid);
        let fault = self.fault();
        let read = |address: u64, to: &mut [u8]| self.read(address, to);
        let load = &mut |path: &str| modules.get(path);
        let mut space = Space { maps: &maps, load, read: &read, faults: &self.faults };
        let walk = unwind::unwind(registers, fault, &mut space);
        let stack = symbols::locate(&walk.pcs, &mut space);
        if self.faults.len() == MAX_FAULTS {
            self.faults.remove(0);
        }
        self.faults.push((registers.pc(), fault));
        (stack, walk.overflow)
    }

    /// Notes the path of a call that did not find it.
    fn note_path(&mut self) {
        let many = |missed: &Vec<PathBuf>| missed.len() >= MAX_PATHS;
        if self.missed.as_ref().is_none_or(many) {
            return;
        }
        let Some(mut address) = self.missing_path() else { return };
        let mut path = Vec::new();
        let mut part = [0; 8];
        // In steps that cross no page, since the next may not be there.
        address -= address % 8;
        let skip = self.missing_path().unwrap_or(address) - address;
        while path.len() < libc::PATH_MAX as usize && self.read(address, &mut part) {
            path.extend_from_slice(&part);
            address += 8;
            if path[(skip as usize).min(path.len())..].contains(&0) {
                break;
            }
        }
        let bytes = path.get(skip as usize..).unwrap_or_default();
        let path = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        if let (false, Some(missed)) = (path.is_empty(), &mut self.missed) {
            missed.push(PathBuf::from(std::ffi::OsStr::from_bytes(path)));
        }
    }

    fn tid(&self) -> pid_t {
        self.threads.get(self.stopped).map_or(self.pid, |thread| thread.tid)
    }

    /// The signal that the thread stopped for.
    fn fault(&self) -> Fault {
        // SAFETY: all zeros is a value of this type, and there is room for it;
        // the address is read only where the signal has one.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let got = libc::ptrace(libc::PTRACE_GETSIGINFO, self.tid(), 0usize, &raw mut info);
            let raised = got == 0 && info.si_code > 0;
            Fault { signal: info.si_signo, address: raised.then(|| info.si_addr() as u64) }
        }
    }

    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        let local = libc::iovec { iov_base: to.as_mut_ptr().cast::<c_void>(), iov_len: to.len() };
        let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: to.len() };
        // SAFETY: the local buffer is as long as is said; the other address
        // belongs to the tracee and is only read.
        let got = unsafe { libc::process_vm_readv(self.pid, &local, 1, &remote, 1, 0) };
        got == to.len() as isize
    }

    #[cfg(target_arch = "x86_64")]
    fn user_registers(&self) -> Option<libc::user_regs_struct> {
        // SAFETY: there is room for the registers.
        unsafe {
            let mut registers: libc::user_regs_struct = std::mem::zeroed();
            let got = libc::ptrace(libc::PTRACE_GETREGS, self.tid(), 0usize, &raw mut registers);
            (got == 0).then_some(registers)
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn registers(&self) -> Option<unwind::Registers> {
        let r = self.user_registers()?;
        // By their numbers in DWARF.
        Some(unwind::Registers {
            values: [
                r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
                r.r13, r.r14, r.r15, r.rip,
            ],
        })
    }

    /// Whether the call that just ended was for memory and got none.
    #[cfg(target_arch = "x86_64")]
    fn refused(&self) -> bool {
        let Some(r) = self.user_registers() else { return false };
        let no_memory = r.rax as i64 == -i64::from(libc::ENOMEM);
        let call = r.orig_rax as i64;
        no_memory && [libc::SYS_mmap, libc::SYS_mremap].contains(&call)
    }

    /// Where the path is that the call that just ended did not find.
    #[cfg(target_arch = "x86_64")]
    fn missing_path(&self) -> Option<u64> {
        const FIRST: [libc::c_long; 6] = [
            libc::SYS_open,
            libc::SYS_stat,
            libc::SYS_lstat,
            libc::SYS_access,
            libc::SYS_execve,
            libc::SYS_chdir,
        ];
        const SECOND: [libc::c_long; 6] = [
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_newfstatat,
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_statx,
        ];
        let r = self.user_registers()?;
        // Other calls return addresses here, whose lower half may be any number.
        let failed = [libc::ENOENT, libc::EACCES].iter().any(|&error| r.rax as i64 == -i64::from(error));
        let call = r.orig_rax as i64;
        let place = |calls: &[libc::c_long], value| calls.contains(&call).then_some(value);
        if failed { place(&FIRST, r.rdi).or_else(|| place(&SECOND, r.rsi)) } else { None }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn missing_path(&self) -> Option<u64> {
        None
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn registers(&self) -> Option<unwind::Registers> {
        None
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn refused(&self) -> bool {
        false
    }
}

impl Drop for Tracee {
    /// A process that was traced is not over before its tracer has seen its
    /// end: its namespace, and whoever waits for that, would wait for ever.
    fn drop(&mut self) {
        if self.gone {
            return;
        }
        // SAFETY: no memory is involved; nobody but its tracer can have taken
        // it in, so the number is its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        for _ in 0..LOOKS {
            while self.next().is_some() && !self.gone {}
            if self.gone {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Thread {
    fn new(tid: pid_t) -> Thread {
        Thread { tid, pending: 0, inside_call: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::path::Path;

    #[test]
    fn a_tracee_that_nobody_waited_for_is_over() {
        let mut command = std::process::Command::new("sleep");
        // SAFETY: raise is async-signal-safe.
        unsafe {
            command.arg("600").pre_exec(|| {
                libc::raise(libc::SIGSTOP);
                Ok(())
            })
        };
        // It returns when the child has begun its program, for which the
        // child waits to be attached to.
        let (send, receive) = std::sync::mpsc::channel();
        let starter = std::thread::spawn(move || {
            let own = std::process::id();
            let children = format!("/proc/{own}/task/{}/children", thread_id());
            send.send(children).expect("a listener");
            command.spawn()
        });
        let children = receive.recv().expect("a path");
        let pid = loop {
            let text = std::fs::read_to_string(&children).unwrap_or_default();
            match text.split_whitespace().next().and_then(|pid| pid.parse::<i32>().ok()) {
                Some(pid) => break pid,
                None => std::thread::sleep(LOOK),
            }
        };
        let tracee = Tracee::attach(pid, true).expect("a child may be traced");
        drop(tracee);
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it was taken in");
        let _ = starter.join();
    }

    /// The number of this thread.
    fn thread_id() -> i32 {
        // SAFETY: no memory is involved.
        unsafe { libc::gettid() }
    }
}
