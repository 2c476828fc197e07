//! System calls that a target may not make: a program for seccomp.
//!
//! In:  which other layers there are.
//! Out: instructions of classic BPF, which the kernel runs for each call.
//!
//! What is refused has no use in a program that reads input, or leads out of
//! the other layers: keys of the session, io_uring, BPF, mounts, new
//! namespaces, other families of sockets, typing into a terminal. Calls fail
//! as on a kernel that lacks them; the target goes on. Without a file system
//! of its own a target can reach unix sockets and change the rights and
//! times of its user's files by path: then these calls are refused, too.

use libc::{c_long, sock_filter};

/// What the other layers leave to this one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// There is no network namespace.
    pub network: bool,
    /// There is no view: files have their paths outside.
    pub files: bool,
    /// The target's user owns files and processes.
    pub owner: bool,
    /// There is no pid namespace.
    pub processes: bool,
    /// There is no IPC namespace.
    pub ipc: bool,
}

/// Calls that are newer than their names in C libraries; the same number
/// everywhere.
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;

/// Never of use.
const REFUSED: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
];

/// They change what belongs to a file's owner, by its path or by a
/// descriptor that was opened for reading.
const OWNERS: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_flock,
];

/// They reach into processes of the same user.
const PROCESSES: &[c_long] = &[
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// They change another process unless the argument with this index is 0.
const OTHERS: &[(c_long, u32)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
];

/// The same; besides, they change all processes of a user if the first
/// argument is this (`PRIO_USER`, `IOPRIO_WHO_USER`), of which 0 is one's own.
const BY_USER: &[(c_long, u32, u32)] = &[(libc::SYS_setpriority, 2, 1), (libc::SYS_ioprio_set, 3, 1)];

/// They make what stays until somebody removes it.
const LASTING: &[c_long] = &[libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open];

/// They say whom the kernel is to signal when a descriptor can be read:
/// `F_SETOWN`, `F_SETOWN_EX`; `FIOSETOWN`, `SIOCSPGRP`.
const OWNER_COMMANDS: [u32; 2] = [8, 15];
const OWNER_CODES: [u32; 2] = [0x8901, 0x8902];

/// Namespaces that a new process could be in.
const NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;

/// Registering buffers with a ring, which the runtime does, and nothing else.
const RING_BUFFERS: [u32; 2] = [0, 1];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
/// The lower half of an argument; these machines are little-endian.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Whether this kernel has filters that answer with an error.
pub fn is_there() -> bool {
    const GET_ACTION_AVAIL: u32 = 2;
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one number.
    unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}

/// The program for a target.
pub fn program(open: Open) -> Vec<sock_filter> {
    let mut program = Program(Vec::new());
    program.load(ARCH);
    // Calls in another architecture's numbers would pass as others.
    program.unless(ARCHITECTURE, refuse(libc::ENOSYS));
    program.load(NUMBER);
    if cfg!(target_arch = "x86_64") {
        // As would those of x32.
        program.push(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0x4000_0000, 0, 1);
        program.answer(refuse(libc::ENOSYS));
    }
    for call in REFUSED {
        program.when(*call, |program| program.answer(refuse(libc::EPERM)));
    }
    let groups =
        [(open.files && open.owner, OWNERS), (open.processes && open.owner, PROCESSES), (open.ipc, LASTING)];
    for (_, calls) in groups.into_iter().filter(|(wanted, _)| *wanted) {
        for call in calls {
            program.when(*call, |program| program.answer(refuse(libc::EPERM)));
        }
    }
    // In a pid namespace, too: there the warden is a process of this user.
    for (call, index) in OTHERS.iter().filter(|_| open.owner) {
        program.when(*call, |program| {
            program.load(argument(*index));
            program.answer_if(0, ALLOW);
            program.answer(refuse(libc::EPERM));
        });
    }
    for (call, user, index) in BY_USER.iter().filter(|_| open.owner) {
        program.when(*call, |program| {
            program.load(argument(0));
            program.answer_if(*user, refuse(libc::EPERM));
            program.load(argument(*index));
            program.answer_if(0, ALLOW);
            program.answer(refuse(libc::EPERM));
        });
    }
    program.when(libc::SYS_io_uring_register, |program| {
        program.load(argument(1));
        for code in RING_BUFFERS {
            program.answer_if(code, ALLOW);
        }
        program.answer(refuse(libc::EPERM));
    });
    // Its flags are in memory, where a filter cannot look: the C library
    // takes the older call instead.
    program.when(libc::SYS_clone3, |program| program.answer(refuse(libc::ENOSYS)));
    program.when(libc::SYS_clone, |program| {
        program.load(argument(0));
        program.push(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, NAMESPACES, 0, 1);
        program.answer(refuse(libc::EPERM));
        program.answer(ALLOW);
    });
    let signals = open.processes && open.owner;
    if signals {
        program.when(libc::SYS_fcntl, |program| {
            program.load(argument(1));
            for code in OWNER_COMMANDS {
                program.answer_if(code, refuse(libc::EPERM));
            }
            program.answer(ALLOW);
        });
    }
    program.when(libc::SYS_ioctl, |program| {
        program.load(argument(1));
        for code in [libc::TIOCSTI as u32, libc::TIOCLINUX as u32] {
            program.answer_if(code, refuse(libc::EPERM));
        }
        for code in OWNER_CODES.into_iter().filter(|_| signals) {
            program.answer_if(code, refuse(libc::EPERM));
        }
        program.answer(ALLOW);
    });
    program.when(libc::SYS_socket, |program| {
        program.load(argument(0));
        if !open.files {
            program.answer_if(libc::AF_UNIX as u32, ALLOW);
        }
        if !open.network {
            program.answer_if(libc::AF_INET as u32, ALLOW);
            program.answer_if(libc::AF_INET6 as u32, ALLOW);
        }
        program.answer(refuse(libc::EAFNOSUPPORT));
    });
    program.when(libc::SYS_socketpair, |program| {
        program.load(argument(0));
        program.unless(libc::AF_UNIX as u32, refuse(libc::EAFNOSUPPORT));
        if open.files {
            // Messages without a connection can go to any socket.
            program.load(argument(1));
            program.push(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xF, 0, 0);
            program.answer_if(libc::SOCK_DGRAM as u32, refuse(libc::EPERM));
        }
        program.answer(ALLOW);
    });
    program.answer(ALLOW);
    program.0
}

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

const fn refuse(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

struct Program(Vec<sock_filter>);

impl Program {
    fn push(&mut self, code: u32, k: u32, jt: u8, jf: u8) {
        self.0.push(sock_filter { code: code as u16, jt, jf, k });
    }

    fn load(&mut self, offset: u32) {
        self.push(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    }

    fn answer(&mut self, value: u32) {
        self.push(libc::BPF_RET | libc::BPF_K, value, 0, 0);
    }

    /// Answers if what was loaded is this.
    fn answer_if(&mut self, value: u32, answer: u32) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, 0, 1);
        self.answer(answer);
    }

    /// Answers if what was loaded is something else.
    fn unless(&mut self, value: u32, answer: u32) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, 1, 0);
        self.answer(answer);
    }

    /// What follows a call with this number; it always answers.
    fn when(&mut self, call: c_long, body: impl FnOnce(&mut Program)) {
        let mut inner = Program(Vec::new());
        body(&mut inner);
        // Bodies are far shorter than the 255 instructions of a jump.
        let length = inner.0.len() as u8;
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 0, length);
        self.0.extend(inner.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a filter answers: a plain interpreter of the few instructions.
    fn answer(program: &[sock_filter], call: i64, arguments: [u64; 2]) -> u32 {
        let mut data = [0u8; 64];
        data[0..4].copy_from_slice(&(call as u32).to_ne_bytes());
        data[4..8].copy_from_slice(&ARCHITECTURE.to_ne_bytes());
        for (i, argument) in arguments.iter().enumerate() {
            data[16 + 8 * i..24 + 8 * i].copy_from_slice(&argument.to_ne_bytes());
        }
        let (mut at, mut a) = (0, 0u32);
        loop {
            let i = program[at];
            at += 1;
            let jump = |taken: bool| usize::from(if taken { i.jt } else { i.jf });
            match u32::from(i.code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    let k = i.k as usize;
                    a = u32::from_ne_bytes(data[k..k + 4].try_into().expect("four bytes"));
                }
                code if code == libc::BPF_RET | libc::BPF_K => return i.k,
                code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => at += jump(a == i.k),
                code if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => at += jump(a >= i.k),
                code if code == libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K => at += jump(a & i.k != 0),
                code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => a &= i.k,
                code => panic!("instruction {code:#x}"),
            }
        }
    }

    #[test]
    fn calls_are_refused_by_number_and_argument() {
        let view = program(Open::default());
        let bare = program(Open { network: true, files: true, owner: true, processes: true, ipc: true });
        let eperm = refuse(libc::EPERM);
        let check = |program: &[sock_filter], call, arguments, expected| {
            assert_eq!(answer(program, call, arguments), expected, "{call} {arguments:?}");
        };
        for both in [&view, &bare] {
            check(both, libc::SYS_read, [0, 0], ALLOW);
            check(both, libc::SYS_keyctl, [0, 0], eperm);
            check(both, libc::SYS_io_uring_setup, [1, 0], eperm);
            check(both, libc::SYS_io_uring_register, [5, 0], ALLOW);
            check(both, libc::SYS_io_uring_register, [5, 12], eperm);
            check(both, libc::SYS_clone, [libc::SIGCHLD as u64, 0], ALLOW);
            check(both, libc::SYS_clone, [libc::CLONE_NEWUSER as u64 | 17, 0], eperm);
            check(both, libc::SYS_clone3, [0, 0], refuse(libc::ENOSYS));
            check(both, libc::SYS_ioctl, [0, libc::TIOCSTI | 1 << 40], eperm);
            check(both, libc::SYS_ioctl, [0, libc::TCGETS], ALLOW);
            check(both, libc::SYS_socket, [libc::AF_VSOCK as u64, 1], refuse(libc::EAFNOSUPPORT));
            check(both, libc::SYS_socketpair, [libc::AF_UNIX as u64, libc::SOCK_STREAM as u64], ALLOW);
            check(both, libc::SYS_read | 0x4000_0000, [0, 0], refuse(libc::ENOSYS));
        }
        check(&view, libc::SYS_socket, [libc::AF_UNIX as u64, 1], ALLOW);
        check(&view, libc::SYS_socket, [libc::AF_INET as u64, 1], ALLOW);
        check(&view, libc::SYS_fchmodat, [0, 0], ALLOW);
        check(&bare, libc::SYS_socket, [libc::AF_UNIX as u64, 1], refuse(libc::EAFNOSUPPORT));
        check(&bare, libc::SYS_socket, [libc::AF_INET as u64, 1], refuse(libc::EAFNOSUPPORT));
        check(&bare, libc::SYS_fchmodat, [0, 0], eperm);
        check(&bare, libc::SYS_prlimit64, [0, 7], ALLOW);
        check(&bare, libc::SYS_prlimit64, [1, 7], eperm);
        check(&bare, libc::SYS_setpriority, [1, 1], eperm);
        check(&bare, libc::SYS_setpriority, [0, 0], ALLOW);
        check(&bare, libc::SYS_setpriority, [2, 0], eperm);
        check(&bare, libc::SYS_ioprio_set, [3, 0], eperm);
        check(&bare, libc::SYS_fcntl, [0, 8], eperm);
        check(&bare, libc::SYS_fcntl, [0, 3], ALLOW);
        check(&bare, libc::SYS_ioctl, [0, 0x8901], eperm);
        check(&view, libc::SYS_fcntl, [0, 8], ALLOW);
        let own = program(Open { owner: true, ..Open::default() });
        check(&own, libc::SYS_prlimit64, [1, 7], eperm);
        check(&own, libc::SYS_prlimit64, [0, 7], ALLOW);
        check(&bare, libc::SYS_semget, [1, 1], eperm);
        check(&view, libc::SYS_semget, [1, 1], ALLOW);
        let message = (libc::SOCK_DGRAM | libc::SOCK_CLOEXEC) as u64;
        check(&bare, libc::SYS_socketpair, [libc::AF_UNIX as u64, message], eperm);
        check(&view, libc::SYS_socketpair, [libc::AF_UNIX as u64, message], ALLOW);
    }
}
