//! A process in a container as docker makes them by default: few
//! capabilities, and a filter of system calls that permits no namespaces and
//! no mounts.

use libc::{c_long, sock_filter};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Refused there without the capability of an administrator.
const REFUSED: &[c_long] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
];

/// What docker leaves to root: chown, dac_override, fowner, fsetid, kill,
/// setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod,
/// audit_write, setfcap.
const CAPABILITIES: u32 = 1
    | 1 << 1
    | 1 << 3
    | 1 << 4
    | 1 << 5
    | 1 << 6
    | 1 << 7
    | 1 << 8
    | 1 << 10
    | 1 << 13
    | 1 << 18
    | 1 << 27
    | 1 << 29
    | 1 << 31;

/// Lets a command start there.
pub fn enter(command: &mut Command) {
    let filter = filter();
    // SAFETY: only system calls are made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::geteuid() == 0 {
                for capability in 0..64 {
                    if capability > 31 || CAPABILITIES & 1 << capability == 0 {
                        libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
                    }
                }
                let header: [u32; 2] = [0x2008_0522, 0];
                let data: [u32; 6] = [CAPABILITIES, CAPABILITIES, 0, 0, 0, 0];
                libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr());
            }
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
            match libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}

fn filter() -> Vec<sock_filter> {
    let step = |code: u32, k: u32, jt, jf| sock_filter { code: code as u16, jt, jf, k };
    let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let answer = |value| step(libc::BPF_RET | libc::BPF_K, value, 0, 0);
    let refuse = |errno: i32| answer(libc::SECCOMP_RET_ERRNO | errno as u32);
    let equals =
        |value: c_long, skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value as u32, 0, skip);
    let mut all = vec![load(0)];
    for call in REFUSED {
        all.extend([equals(*call, 1), refuse(libc::EPERM)]);
    }
    all.extend([equals(libc::SYS_clone3, 1), refuse(libc::ENOSYS)]);
    let namespaces = 0x7E02_0000;
    all.extend([equals(libc::SYS_clone, 3), load(16)]);
    all.extend([step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, namespaces, 0, 1), refuse(libc::EPERM)]);
    all.push(answer(libc::SECCOMP_RET_ALLOW));
    all
}
