/* What a system call before the point means for a fork after it.
 *
 * In:  a call, before and after it is carried out.
 * Out: whether it may tell of the input, whether children find its effect,
 *      and notes of what they will not find anew: random numbers, numbers of
 *      processes, time.
 *
 * The input is known by its file (device and inode), so that any name, link or
 * descriptor leads to it. A call that is not known is taken for the point: a
 * fork that comes too early costs time and nothing else. */
#define _GNU_SOURCE
#include "late.h"

#ifdef WUG_CAN_BE_LATE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

HIDDEN uint32_t wug_notes;

static const struct verdict harmless = {HARMLESS, 0}, point = {POINT, 0}, own_way = {OWN_WAY, 0};
static struct verdict refused(uint32_t why) { return (struct verdict){REFUSED, why}; }

static int is_input(const struct stat *file) {
    return file->st_ino == wug.board->input_inode && file->st_dev == wug.board->input_device;
}

static struct verdict by_descriptor(long fd) {
    struct stat file;
    return !GATE2(SYS_fstat, (int)fd, &file) && is_input(&file) ? point : harmless;
}

static struct verdict by_path(long folder, long path) {
    struct stat file;
    if (GATE4(SYS_newfstatat, (int)folder, path, &file, 0)) return harmless;
    if (S_ISCHR(file.st_mode) && major(file.st_rdev) == 1 && (minor(file.st_rdev) == 8 || minor(file.st_rdev) == 9))
        wug_notes |= WUG_NOTE_RANDOM;
    return is_input(&file) ? point : harmless;
}

/* Of a path that may be empty: then it is the descriptor that counts. */
static struct verdict by_either(long folder, long path, long flags) {
    if (flags & AT_EMPTY_PATH) {
        struct verdict found = by_descriptor(folder);
        if (found.deed != HARMLESS) return found;
    }
    return by_path(folder, path);
}

static int is_ours(long fd) { return fd >= WUG_FIRST_FD && fd <= WUG_LAST_FD; }

static struct verdict control(long command) {
    switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return refused(WUG_LATE_LOCK);
    case F_SETOWN:
    case F_SETSIG:
    case F_SETLEASE:
    case F_NOTIFY: return refused(WUG_LATE_SIGNAL);
    default: return harmless;
    }
}

static struct verdict map(const struct wug_call *call) {
    int shared = (call->a[3] & MAP_TYPE) != MAP_PRIVATE;
    if (!(call->a[3] & MAP_ANONYMOUS)) {
        struct verdict found = by_descriptor(call->a[4]);
        if (found.deed != HARMLESS) return found;
    }
    return shared && (call->a[3] & MAP_ANONYMOUS || call->a[2] & PROT_WRITE) ? refused(WUG_LATE_SHARED) : harmless;
}

/* Programs of Rust ask first whether their standard descriptors are open: a
 * question without events does not depend on what is in them. */
static struct verdict wait_for(long list, long count) {
    if (count < 0 || count > 64) return point;
    for (const struct pollfd *p = (const struct pollfd *)list; count; p++, count--) {
        /* Has the system say whether its 8 bytes can be read: see late.c. It
         * will refuse the call itself otherwise. */
        if (GATE4(SYS_rt_sigprocmask, 1000, p, 0, 8) != -EINVAL) return harmless;
        if (p->events && by_descriptor(p->fd).deed != HARMLESS) return point;
    }
    return harmless;
}

/* Bounds that would hold for the server, too. */
static struct verdict limit(long which, long new) {
    return !new || which == RLIMIT_STACK || which == RLIMIT_CORE || which == RLIMIT_NOFILE || which == RLIMIT_AS ||
                   which == RLIMIT_DATA
               ? harmless
               : refused(WUG_LATE_LIMIT);
}

/* Before it is carried out. */
HIDDEN struct verdict wug_judge(const struct wug_call *call) {
    const long *a = call->a;
    struct verdict found;
    switch (call->number) {
    /* Of a descriptor. */
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_fstat:
    case SYS_lseek:
    case SYS_fadvise64:
    case SYS_readahead:
    case SYS_getdents:
    case SYS_getdents64:
    case SYS_fchdir:
    case SYS_fstatfs:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_fchown:
    case SYS_fgetxattr:
    case SYS_flistxattr: return by_descriptor(a[0]);
    case SYS_ioctl:
        /* Whether it is a terminal does not depend on what is in it. */
        return a[1] == 0x5401 /* TCGETS */ ? harmless : by_descriptor(a[0]);
    case SYS_sendfile: found = by_descriptor(a[0]); return found.deed == HARMLESS ? by_descriptor(a[1]) : found;
    case SYS_splice:
    case SYS_copy_file_range: found = by_descriptor(a[0]); return found.deed == HARMLESS ? by_descriptor(a[2]) : found;
    case SYS_mmap: return map(call);
    case SYS_poll:
    case SYS_ppoll: return wait_for(a[0], a[1]);

    /* Of a path. */
    case SYS_open:
    case SYS_creat:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
    case SYS_truncate:
    case SYS_unlink:
    case SYS_chmod:
    case SYS_chown:
    case SYS_lchown:
    case SYS_utime:
    case SYS_utimes:
    case SYS_getxattr:
    case SYS_lgetxattr:
    case SYS_listxattr:
    case SYS_llistxattr:
    case SYS_statfs:
    case SYS_chdir:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_mknod: return by_path(AT_FDCWD, a[0]);
    case SYS_rename:
    case SYS_link:
    case SYS_symlink: found = by_path(AT_FDCWD, a[0]); return found.deed == HARMLESS ? by_path(AT_FDCWD, a[1]) : found;
    case SYS_openat:
    case SYS_openat2:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlinkat:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_mknodat:
    case SYS_fchmodat:
    case SYS_futimesat: return by_path(a[0], a[1]);
    case SYS_utimensat: return a[1] ? by_path(a[0], a[1]) : by_descriptor(a[0]);
    case SYS_fchownat: return by_either(a[0], a[1], a[4]);
    case SYS_newfstatat: return by_either(a[0], a[1], a[3]);
    case SYS_statx: return by_either(a[0], a[1], a[2]);
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat: found = by_path(a[0], a[1]); return found.deed == HARMLESS ? by_path(a[2], a[3]) : found;
    case SYS_symlinkat: return by_path(a[1], a[2]);

    /* Numbers of ours are not there for the program. */
    case SYS_close: return is_ours(a[0]) ? own_way : harmless;
    case SYS_close_range:
        return (unsigned long)a[0] <= WUG_LAST_FD && (unsigned long)a[1] >= WUG_FIRST_FD ? own_way : harmless;
    case SYS_dup2:
    case SYS_dup3: return is_ours(a[1]) ? refused(WUG_LATE_DESCRIPTORS) : harmless;
    case SYS_fcntl: return control(a[1]);

    /* What comes back from the frame of a handler. */
    case SYS_rt_sigreturn:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigaction:
    case SYS_sigaltstack: return own_way;

    /* What a fork does not copy, or shares. */
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork: return refused(WUG_LATE_PROCESS);
    case SYS_execve:
    case SYS_execveat: return refused(WUG_LATE_EXEC);
    case SYS_exit:
    case SYS_exit_group: return refused(WUG_LATE_ENDED);
    case SYS_timer_create: return refused(WUG_LATE_TIMER);
    case SYS_flock: return refused(WUG_LATE_LOCK);
    case SYS_memfd_create:
    case SYS_shmget:
    case SYS_shmat:
    case SYS_semget:
    case SYS_msgget:
    case SYS_mq_open: return refused(WUG_LATE_SHARED);
    case SYS_madvise: return a[2] == MADV_DONTFORK || a[2] == 18 /* MADV_WIPEONFORK */ ? refused(WUG_LATE_SHARED) : harmless;
    case SYS_seccomp:
    case SYS_ptrace:
    case SYS_unshare: return refused(WUG_LATE_LIMIT);
    case SYS_prctl: return a[0] == 22 /* seccomp */ || a[0] == 59 || a[0] == 1 /* death signal */ ? refused(WUG_LATE_LIMIT) : harmless;
    case SYS_setrlimit: return limit(a[0], a[1]);
    case SYS_prlimit64: return limit(a[1], a[2]);

    /* What each run would find anew. */
    case SYS_getrandom:
        /* libc's allocator asks for one word that changes nothing. */
        if (a[1] != 8 || a[2] != 1 /* GRND_NONBLOCK */) wug_notes |= WUG_NOTE_RANDOM;
        return harmless;
    case SYS_getpid:
    case SYS_getppid: wug_notes |= WUG_NOTE_PROCESS; return harmless;
    case SYS_time:
    case SYS_gettimeofday:
    case SYS_clock_gettime: wug_notes |= WUG_NOTE_TIME; return harmless;

    /* Memory, signals, who and where we are: children have the same. Of
     * descriptors: place.c looks at those that are open. */
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_brk:
    case SYS_mincore:
    case SYS_msync:
    case SYS_mlock:
    case SYS_munlock:
    case SYS_dup:
    case SYS_pipe:
    case SYS_pipe2:
    case SYS_socket:
    case SYS_socketpair:
    case SYS_connect:
    case SYS_bind:
    case SYS_sendto:
    case SYS_recvfrom:
    case SYS_sendmsg:
    case SYS_setsockopt:
    case SYS_getsockopt:
    case SYS_getsockname:
    case SYS_eventfd2:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_inotify_init1:
    case SYS_signalfd4:
    case SYS_timerfd_create:
    case SYS_alarm:
    case SYS_getitimer:
    case SYS_setitimer:
    case SYS_kill:
    case SYS_tgkill:
    case SYS_gettid:
    case SYS_rt_sigpending:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_clock_getres:
    case SYS_sched_yield:
    case SYS_sched_getaffinity:
    case SYS_sched_setaffinity:
    case SYS_sched_getparam:
    case SYS_sched_getscheduler:
    case SYS_getpriority:
    case SYS_setpriority:
    case SYS_getcpu:
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_getrlimit:
    case SYS_getrusage:
    case SYS_times:
    case SYS_getcwd:
    case SYS_umask:
    case SYS_getuid:
    case SYS_getgid:
    case SYS_geteuid:
    case SYS_getegid:
    case SYS_getgroups:
    case SYS_getresuid:
    case SYS_getresgid:
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_capget:
    case SYS_capset:
    case SYS_getpgrp:
    case SYS_getpgid:
    case SYS_setpgid:
    case SYS_setsid:
    case SYS_getsid:
    case SYS_personality:
    case SYS_arch_prctl:
    case SYS_set_tid_address:
    case SYS_set_robust_list:
    case SYS_rseq:
    case SYS_membarrier:
    case SYS_futex: return harmless;
    default: return point;
    }
}

/* Whether this opens a file to change it. */
static int opens_to_change(const struct wug_call *call, long fd) {
    struct stat file;
    long flags;
    switch (call->number) {
    case SYS_open: flags = call->a[1]; break;
    case SYS_openat: flags = call->a[2]; break;
    case SYS_creat: flags = O_WRONLY; break;
    case SYS_openat2: flags = O_WRONLY; break; /* they are in memory, and hardly anybody uses it */
    default: return 0;
    }
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))) return 0;
    return !GATE2(SYS_fstat, fd, &file) && S_ISREG(file.st_mode);
}

/* After it was carried out: WUG_LATE_*, or 0. */
HIDDEN uint32_t wug_judge_after(const struct wug_call *call, long result) {
    if (result < 0) return 0;
    switch (call->number) {
    case SYS_write:
    case SYS_writev:
        if (result > 0 && (call->a[0] == 1 || call->a[0] == 2)) wug_notes |= WUG_NOTE_OUTPUT;
        return 0;
    case SYS_truncate:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_link:
    case SYS_linkat:
    case SYS_symlink:
    case SYS_symlinkat:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rmdir:
    case SYS_mknod:
    case SYS_mknodat:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_fchmodat:
    case SYS_chown:
    case SYS_lchown:
    case SYS_fchown:
    case SYS_fchownat:
    case SYS_utime:
    case SYS_utimes:
    case SYS_futimesat:
    case SYS_utimensat:
    case SYS_bind: return WUG_LATE_WRITES;
    default: return opens_to_change(call, result) ? WUG_LATE_WRITES : 0;
    }
}
#endif
