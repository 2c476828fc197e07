//! One traced process: stops at its signals, its registers and memory.

use super::super::sys;
use super::unwind;
use super::{Frame, symbols};
use libc::{c_int, c_void, pid_t};
use std::io;

/// A process under trace. It is killed with this one.
pub struct Tracee {
    pid: pid_t,
    /// The signal that it stopped for.
    pending: c_int,
    /// Whether calls to the system are watched, to see memory refused.
    calls: bool,
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
const FATAL: [c_int; 9] = [
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

/// Waits until a process that is about to stop itself has done so.
fn await_stop(pid: i32) {
    for _ in 0..2000 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
        if state.is_none_or(|state| matches!(state, 'T' | 't' | 'Z' | 'X')) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

impl Tracee {
    /// Attaches to a process that stopped itself before exec, and lets it go.
    pub fn attach(pid: i32, calls: bool) -> io::Result<Tracee> {
        if pid <= 1 {
            return Err(io::ErrorKind::NotFound.into());
        }
        await_stop(pid);
        let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACESYSGOOD;
        // SAFETY: no memory is involved.
        let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0usize, options as usize) };
        let attached = sys::check(seized as i64);
        // Whether traced or not, it must go on: it waits for this. It is held
        // and cannot have ended, so the number is its own.
        // SAFETY: as above.
        unsafe { libc::kill(pid, libc::SIGCONT) };
        attached?;
        Ok(Tracee { pid, pending: 0, calls, inside_call: false })
    }

    /// What happened since; None if nothing did.
    pub fn next(&mut self) -> Option<News> {
        let mut status = 0;
        // SAFETY: a tracee is waited for by its tracer alone.
        let pid = unsafe { libc::waitpid(self.pid, &mut status, libc::WNOHANG | libc::__WALL) };
        if pid == 0 {
            return None;
        }
        if pid < 0 || !libc::WIFSTOPPED(status) {
            return Some(News::Gone);
        }
        let signal = libc::WSTOPSIG(status);
        if signal == libc::SIGTRAP | 0x80 {
            self.inside_call = !self.inside_call;
            let refused = !self.inside_call && self.refused();
            self.pending = 0;
            self.resume();
            return Some(if refused { News::Refused } else { News::Other });
        }
        // Events, such as the end of a stop, are not signals.
        self.pending = if status >> 16 != 0 { 0 } else { signal };
        if self.pending != 0 && FATAL.contains(&signal) {
            return Some(News::Fatal);
        }
        self.resume();
        Some(News::Other)
    }

    /// Lets it go on, with the signal that it stopped for.
    pub fn resume(&mut self) {
        let how = if self.calls { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
        // SAFETY: no memory is involved; if it was killed meanwhile, the call
        // fails and the next wait tells.
        unsafe { libc::ptrace(how, self.pid, 0usize, self.pending as usize) };
    }

    /// The functions that are under way.
    pub fn stack(&self) -> Vec<Frame> {
        let Some(registers) = self.registers() else { return Vec::new() };
        let maps = symbols::maps(self.pid);
        let pcs = unwind::unwind(registers, &maps, &|address, to| self.read(address, to));
        symbols::resolve(&symbols::locate(&pcs, &maps))
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
            let got = libc::ptrace(libc::PTRACE_GETREGS, self.pid, 0usize, &raw mut registers);
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

    #[cfg(not(target_arch = "x86_64"))]
    fn registers(&self) -> Option<unwind::Registers> {
        None
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn refused(&self) -> bool {
        false
    }
}
