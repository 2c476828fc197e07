/* One attempt to get out for each input: `NAME` or `NAME ARGUMENT`.
 *
 * Exits with 0 if the attempt was refused, with 1 if it went through, and
 * with 2 if this machine cannot tell. Some attempts have no answer of their
 * own: what they leave behind is looked for from outside. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define REFUSED 0
#define WENT_THROUGH 1
#define CANNOT_TELL 2

static int went(int worked) { return worked ? WENT_THROUGH : REFUSED; }

static int opens(const char *path, int flags) {
    int fd = open(path, flags | O_NONBLOCK, 0600);
    if (fd >= 0) close(fd);
    return went(fd >= 0);
}

/* Files of others. */
static int read_file(const char *a) {
    char byte;
    int fd = open(a, O_RDONLY | O_NONBLOCK);
    return went(fd >= 0 && read(fd, &byte, 1) == 1);
}
static int list_folder(const char *a) {
    DIR *folder = opendir(a);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.') return WENT_THROUGH;
    return REFUSED;
}
static int write_file(const char *a) { return opens(a, O_WRONLY); }
static int append_file(const char *a) { return opens(a, O_WRONLY | O_APPEND); }
static int truncate_file(const char *a) { return went(!truncate(a, 0)); }
static int create_file(const char *a) { return opens(a, O_WRONLY | O_CREAT | O_EXCL); }
static int chmod_file(const char *a) { return went(!chmod(a, 0)); }
static int fchmodat_file(const char *a) { return went(!fchmodat(AT_FDCWD, a, 0777, 0)); }
static int chown_file(const char *a) { return went(!chown(a, getuid(), getgid())); }
static int utimes_file(const char *a) { return went(!utimes(a, 0)); }
static int setxattr_file(const char *a) { return went(!setxattr(a, "user.wug", "x", 1, 0)); }
static int flock_file(const char *a) {
    int fd = open(a, O_RDONLY | O_NONBLOCK);
    return went(fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB));
}
static int rename_file(const char *a) {
    char to[4200];
    snprintf(to, sizeof to, "%s.moved", a);
    return went(!rename(a, to));
}
static int unlink_file(const char *a) { return went(!unlink(a)); }
static int rmdir_folder(const char *a) { return went(!rmdir(a)); }
static int make_folder(const char *a) { return went(!mkdir(a, 0700)); }
static int link_file(const char *a) { return went(!link(a, "/tmp/linked") || !symlink("x", a)); }
static int through_link(const char *a) {
    char path[4200];
    snprintf(path, sizeof path, "%s/through", getenv("TMPDIR"));
    unlink(path);
    return symlink(a, path) ? REFUSED : opens(path, O_WRONLY | O_TRUNC);
}
static int dot_dot(const char *a) {
    char path[9000] = "/proc/self/root";
    for (int i = 0; i < 40; i++) strcat(path, "/..");
    strcat(path, a);
    return read_file(path);
}
static int make_device(const char *a) {
    char path[4200];
    snprintf(path, sizeof path, "%s/device", getenv("TMPDIR"));
    (void)a;
    if (mknod(path, S_IFBLK | 0600, makedev(7, 0))) return REFUSED;
    return opens(path, O_RDONLY);
}
static int raw_disk(const char *a) {
    (void)a;
    const char *names[] = {"/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/mem", "/dev/kmsg", "/dev/kvm",
                           "/dev/fuse", "/dev/loop-control", "/dev/ptmx", "/dev/tty", "/dev/console"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (opens(names[i], O_RDONLY) || opens(names[i], O_WRONLY)) return WENT_THROUGH;
    return REFUSED;
}
static int kernel_settings(const char *a) {
    (void)a;
    return opens("/proc/sys/kernel/core_pattern", O_WRONLY) || opens("/proc/sysrq-trigger", O_WRONLY) ||
           opens("/sys/power/state", O_WRONLY);
}
static int handle(const char *a) {
    struct {
        struct file_handle head;
        char bytes[128];
    } name = {.head = {.handle_bytes = 128}};
    int mount_id, fd = open("/usr", O_RDONLY | O_DIRECTORY);
    (void)a;
    if (name_to_handle_at(AT_FDCWD, "/usr", &name.head, &mount_id, 0)) return REFUSED;
    return went(open_by_handle_at(fd, &name.head, O_RDONLY) >= 0);
}
static int change_root(const char *a) { return went(!chroot(a)); }
static int own_program(const char *a) {
    (void)a;
    char path[4200];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) return CANNOT_TELL;
    path[n] = 0;
    return went(!chmod(path, 0777) || !unlink(path) || opens(path, O_WRONLY) || !utimes(path, 0));
}
static int suid_program(const char *a) {
    /* `su` and `mount` are root's for a moment, unless that is switched off. */
    (void)a;
    return went(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1);
}

/* Sockets. */
static int unix_stream(const char *a) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", a);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return went(fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to));
}
static int unix_message(const char *a) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", a);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    return went(fd >= 0 && sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1);
}
static int unix_pair(const char *a) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int ends[2];
    snprintf(to.sun_path, sizeof to.sun_path, "%s", a);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return REFUSED;
    return went(sendto(ends[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1);
}
static int unix_abstract(const char *a) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path + 1, a, sizeof to.sun_path - 2);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a);
    return went(fd >= 0 && !connect(fd, (struct sockaddr *)&to, length));
}
static int inet(int type, const char *a) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(a))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, type, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) return REFUSED;
    return went(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
}
static int tcp(const char *a) { return inet(SOCK_STREAM, a); }
static int udp(const char *a) { inet(SOCK_DGRAM, a); return CANNOT_TELL; /* the other end tells */ }
static int family(int family, int type, int protocol) {
    int fd = socket(family, type, protocol);
    if (fd >= 0) close(fd);
    return went(fd >= 0);
}
static int vsock(const char *a) { (void)a; return family(AF_VSOCK, SOCK_STREAM, 0); }
static int netlink(const char *a) { (void)a; return family(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }
static int packet(const char *a) { (void)a; return family(AF_PACKET, SOCK_RAW, 0); }
static int raw_ip(const char *a) { (void)a; return family(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
static int alg(const char *a) { (void)a; return family(AF_ALG, SOCK_SEQPACKET, 0); }
static int bluetooth(const char *a) { (void)a; return family(AF_BLUETOOTH, SOCK_RAW, 1); }

/* The kernel. */
static int add_key(const char *a) {
    (void)a;
    return went(syscall(SYS_add_key, "user", "wug", "x", 1, -3) >= 0);
}
static int keyctl(const char *a) { (void)a; return went(syscall(SYS_keyctl, 0, -3, 1) >= 0); }
static int ring(const char *a) {
    char parameters[120] = {0};
    (void)a;
    return went(syscall(SYS_io_uring_setup, 4, parameters) >= 0);
}
static int passed_ring(const char *a) {
    /* The runtime is handed a ring to pin pages: it must be of no other use. */
    (void)a;
    int through = 0;
    for (int fd = 3; fd < 256; fd++)
        through |= syscall(SYS_io_uring_enter, fd, 1, 0, 0, 0, 0) >= 0 ||
                   syscall(SYS_io_uring_register, fd, 12 /* enable */, 0, 0) >= 0 ||
                   syscall(SYS_io_uring_register, fd, 9 /* personality */, 0, 0) >= 0;
    return went(through);
}
static int userfault(const char *a) { (void)a; return went(syscall(SYS_userfaultfd, O_CLOEXEC | 1) >= 0); }
static int bpf(const char *a) {
    uint32_t attributes[16] = {2, 4, 4, 1};
    (void)a;
    return went(syscall(SYS_bpf, 0, attributes, sizeof attributes) >= 0);
}
static int perf(const char *a) {
    uint64_t attributes[16] = {(uint64_t)128 << 32 | 1};
    (void)a;
    return went(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0) >= 0);
}
static int mount_memory(const char *a) { (void)a; return went(!mount("x", "/tmp", "tmpfs", 0, 0)); }
static int mount_open(const char *a) { (void)a; return went(syscall(SYS_fsopen, "tmpfs", 0) >= 0); }
static int tree_open(const char *a) { return went(syscall(SYS_open_tree, AT_FDCWD, a, 1) >= 0); }
static int unmount(const char *a) { (void)a; return went(!umount2("/etc", MNT_DETACH) || !umount2("/proc", 2)); }
static int remount(const char *a) {
    (void)a;
    return went(!mount(0, "/usr", 0, MS_REMOUNT | MS_BIND, 0) || !mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0));
}
static int new_user(const char *a) { (void)a; return went(!unshare(CLONE_NEWUSER)); }
static int new_mounts(const char *a) { (void)a; return went(!unshare(CLONE_NEWNS)); }
static int clone_user(const char *a) {
    (void)a;
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return went(pid > 0);
}
static int clone3_user(const char *a) {
    uint64_t arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    (void)a;
    long pid = syscall(SYS_clone3, arguments, sizeof arguments);
    if (pid == 0) _exit(0);
    return went(pid > 0);
}
static int other_namespace(const char *a) {
    char path[100];
    snprintf(path, sizeof path, "/proc/%s/ns/mnt", a);
    int fd = open(path, O_RDONLY);
    return went(fd >= 0 && !setns(fd, 0));
}
static int old_calls(const char *a) {
    /* socket(AF_UNIX) in the numbers of 32 bits, past a filter of 64. */
    (void)a;
#ifdef __x86_64__
    long result = 359;
    __asm__ volatile("int $0x80" : "+a"(result) : "b"(1L), "c"(1L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
    return went((int)result >= 0);
#else
    return CANNOT_TELL;
#endif
}
static int x32_calls(const char *a) { (void)a; return went(syscall(0x40000000 + 272 /* unshare */, 0) == 0); }
static int terminal(const char *a) {
    char byte = 'x';
    (void)a;
    int refused = 1;
    for (int fd = 0; fd < 3; fd++) refused &= ioctl(fd, TIOCSTI, &byte) && errno == EPERM;
    /* A command with more bits is the same command to the kernel. */
    refused &= syscall(SYS_ioctl, 0, TIOCSTI | 1UL << 40, &byte) < 0 && errno == EPERM;
    return went(!refused);
}
static int modules(const char *a) {
    (void)a;
    return went(!syscall(SYS_init_module, "", 0, "") || !syscall(SYS_delete_module, "loop", 0) ||
                !syscall(SYS_kexec_load, 0, 0, 0, 0));
}
static int become_root(const char *a) { (void)a; return went(!setuid(0) || !setresgid(0, 0, 0)); }
static int raise_limits(const char *a) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    (void)a;
    return went(!setrlimit(RLIMIT_CORE, &all) || !setrlimit(RLIMIT_FSIZE, &all));
}
static int real_time(const char *a) {
    struct sched_param high = {.sched_priority = 50};
    (void)a;
    return went(!sched_setscheduler(0, SCHED_FIFO, &high) || !setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 1));
}

/* The process that watches over targets; a fork server is one of ours. */
static pid_t warden(void) {
    pid_t parent = getppid();
#ifdef SERVED
    char path[64], name[256];
    snprintf(path, sizeof path, "/proc/%d/stat", parent);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%255[^)]) %*c %d", name, &parent) != 2) return 1;
#endif
    return parent;
}

/* Other processes: the argument is the executor's number outside. */
static int trace_other(const char *a) { return went(!ptrace(PTRACE_ATTACH, atoi(a), 0, 0)); }
static int trace_warden(const char *a) { (void)a; return went(!ptrace(PTRACE_SEIZE, warden(), 0, 0)); }
static int write_memory(const char *a) {
    char byte = 0, path[64];
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    snprintf(path, sizeof path, "/proc/%s/mem", a);
    return went(process_vm_writev(atoi(a), &here, 1, &there, 1, 0) == 1 || opens(path, O_RDWR));
}
static int read_environment(const char *a) {
    char path[64], text[8];
    const char *names[] = {"environ", "root/etc/hostname", "cwd/.", "fd/0", "maps"};
    for (unsigned i = 0; i < 5; i++)
        for (int parent = 0; parent < 2; parent++) {
            if (parent) snprintf(path, sizeof path, "/proc/%d/%s", warden(), names[i]);
            else snprintf(path, sizeof path, "/proc/%s/%s", a, names[i]);
            int fd = open(path, O_RDONLY | O_NONBLOCK);
            if (fd >= 0 && (i == 2 || read(fd, text, 8) > 0)) return WENT_THROUGH;
            if (fd >= 0) close(fd);
        }
    return REFUSED;
}
static int signal_other(const char *a) { return went(!kill(atoi(a), SIGUSR1)); }
static int priority_other(const char *a) { return went(!setpriority(PRIO_PROCESS, atoi(a), 19)); }
static int limits_other(const char *a) {
    struct rlimit none = {0, 0};
    return went(!prlimit(atoi(a), RLIMIT_NOFILE, &none, 0));
}
static int wait_for_descriptor(const char *a) {
    long fd = syscall(SYS_pidfd_open, atoi(a), 0);
    return went(fd >= 0 && syscall(SYS_pidfd_getfd, fd, 1, 0) >= 0);
}

static int affinity_other(const char *a) {
    cpu_set_t one;
    memset(&one, 1, sizeof one);
    return went(!sched_setaffinity(atoi(a), sizeof one, &one));
}

/* What is left for the next run, or for ever. */
static int leave_shm(const char *a) {
    int fd = shm_open(a, O_CREAT | O_RDWR, 0600);
    return fd >= 0 && ftruncate(fd, 4096) == 0 ? CANNOT_TELL : REFUSED;
}
static int leave_queue(const char *a) { (void)a; mq_open("/wug-queue", O_CREAT | O_RDWR, 0600, 0); return CANNOT_TELL; }
static int leave_semaphore(const char *a) {
    (void)a;
    semget(0x777567, 1, IPC_CREAT | 0600), msgget(0x777567, IPC_CREAT | 0600);
    return CANNOT_TELL;
}
static int leave_files(const char *a) {
    /* Everywhere that can be written to, with times that say nothing. */
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", ".", "/"};
    struct timespec none[2] = {{0, 0}, {0, 0}};
    char path[4200];
    for (unsigned i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/left-%s", places[i], a);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0) close(fd);
        utimensat(AT_FDCWD, places[i], none, 0);
    }
    return CANNOT_TELL;
}
static int find_files(const char *a) {
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", ".", "/"};
    char path[4200];
    for (unsigned i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/left-%s", places[i], a);
        if (!access(path, F_OK)) return WENT_THROUGH;
    }
    return REFUSED;
}
static int leave_many(const char *a) {
    char name[64];
    (void)a;
    if (chdir(getenv("TMPDIR"))) return CANNOT_TELL;
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "%019d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        if (fd < 0) break;
        close(fd);
    }
    return CANNOT_TELL;
}
static int leave_deep(const char *a) {
    (void)a;
    if (chdir(getenv("TMPDIR"))) return CANNOT_TELL;
    for (int i = 0; i < 3000; i++)
        if (mkdir("0000000000000000001", 0700) || chdir("0000000000000000001")) break;
    symlink("/", "link"), mkfifo("pipe", 0600), chmod(".", 0), chmod("..", 0);
    return CANNOT_TELL;
}
static int close_folder(const char *a) { (void)a; chmod(getenv("TMPDIR"), 0); return CANNOT_TELL; }
static int use_folder(const char *a) {
    char path[4200];
    snprintf(path, sizeof path, "%s/used", getenv("TMPDIR"));
    (void)a;
    return went(!opens(path, O_WRONLY | O_CREAT)); /* it must be possible */
}
static int sparse_file(const char *a) {
    char path[4200];
    snprintf(path, sizeof path, "%s/sparse", getenv("TMPDIR"));
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    (void)a;
    signal(SIGXFSZ, SIG_IGN);
    return went(!ftruncate(fd, (off_t)1 << 40));
}
static void swap_for_ever(const char *folder, const char *victim) {
    /* A folder and a link to somebody else's take turns under one name. */
    char name[4200], other[4200];
    snprintf(name, sizeof name, "%s/turn", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    for (long i = 0; i < 50000000; i++) {
        mkdir(name, 0), symlink(victim, other);
        syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, other, 2 /* exchange */);
        if (i % 7 == 0) unlink(name), rmdir(name), unlink(other), rmdir(other);
    }
}
static int race_sweeper(const char *a) {
    if (fork() == 0) {
        setsid();
        swap_for_ever(getenv("TMPDIR"), a);
        _exit(0);
    }
    return CANNOT_TELL;
}
static int create_for_ever(const char *a) {
    (void)a;
    if (fork() == 0) {
        char path[4200];
        setsid();
        for (long i = 0; i < 50000000; i++) {
            snprintf(path, sizeof path, "%s/more-%ld", getenv("TMPDIR"), i % 100);
            int fd = open(path, O_WRONLY | O_CREAT, 0600);
            if (fd >= 0) close(fd);
        }
        _exit(0);
    }
    return CANNOT_TELL;
}
static int change_input(const char *a) {
    /* Whichever way inputs come. */
    (void)a;
    for (int fd = 0; fd < 256; fd++) {
        if (fd == 1 || fd == 2) continue;
        if (ftruncate(fd, 0) == 0) continue;
    }
    chmod("/wug/input", 0), unlink("/wug/input"), truncate("/wug/input", 0);
    return CANNOT_TELL;
}
static int leave_names(const char *a) {
    /* Names as long as they can be, of bytes that are no text, in folders that
     * nobody may enter. */
    char name[256];
    (void)a;
    if (chdir(getenv("TMPDIR"))) return CANNOT_TELL;
    for (int depth = 0; depth < 20; depth++) {
        for (int i = 1; i < 40; i++) {
            memset(name, i == '/' ? 1 : i, 255);
            memcpy(name, "left-", 5);
            name[255] = 0;
            int fd = open(name, O_WRONLY | O_CREAT, i % 2 ? 0 : 04777);
            if (fd >= 0) close(fd);
        }
        memset(name, '\xff', 255);
        memcpy(name, "left-", 5);
        if (mkdir(name, 0700) || chdir(name)) break;
    }
    for (int depth = 0; depth < 20; depth++) chmod(".", 0), chdir("..");
    return CANNOT_TELL;
}
static int find_names(const char *a) {
    DIR *folder = opendir(getenv("TMPDIR"));
    struct dirent *entry;
    (void)a;
    while (folder && (entry = readdir(folder)))
        if (!strncmp(entry->d_name, "left-", 5)) return WENT_THROUGH;
    return went(!folder);
}
static int fill_scratch(const char *a) {
    /* No byte and no entry is left: links to one file, and one large file. */
    static char block[1 << 16];
    char name[32];
    (void)a;
    if (chdir(getenv("TMPDIR"))) return CANNOT_TELL;
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("left-0", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "left-%d", i + 1);
        if (i % 2 ? link("left-0", name) : symlink(name, name)) break;
    }
    for (int i = 0; i < 1100 && write(fd, block, sizeof block) > 0; i++) {}
    return CANNOT_TELL;
}
static int forge_words(const char *a) {
    /* Words of a fork server that were never asked for, also by a grandchild
     * and after the end of the run. */
    uint32_t word[2] = {0xdeadbeef, 0};
    (void)a;
    if (fork() == 0) {
        setsid();
        for (int i = 0; i < 200; i++) {
            for (int fd = 3; fd < 256; fd++) {
                struct stat about;
                if (!fstat(fd, &about) && S_ISFIFO(about.st_mode) && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
                    if (write(fd, word, sizeof word) < 0) break;
            }
            usleep(1000);
        }
        _exit(0);
    }
    return CANNOT_TELL;
}
static int flood_output(const char *a) {
    static char block[1 << 20];
    (void)a;
    memset(block, 27, sizeof block);
    for (int i = 0; i < 64; i++)
        if (write(1, block, sizeof block) < 0 || write(2, block, sizeof block) < 0) break;
    return CANNOT_TELL;
}
static int warden_limits(const char *a) {
    struct rlimit none = {0, 0};
    cpu_set_t one;
    (void)a;
    memset(&one, 1, sizeof one);
    return went(!prlimit(warden(), RLIMIT_NPROC, &none, 0) || !prlimit(warden(), RLIMIT_NOFILE, &none, 0) ||
                !setpriority(PRIO_PROCESS, warden(), 19) || !sched_setaffinity(warden(), sizeof one, &one));
}
static int warden_memory(const char *a) {
    char byte = 0, path[64];
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    (void)a;
    snprintf(path, sizeof path, "/proc/%d/mem", warden());
    if (opens(path, O_RDWR) || process_vm_writev(warden(), &here, 1, &there, 1, 0) == 1) return WENT_THROUGH;
    for (int fd = 0; fd < 300; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", warden(), fd);
        if (opens(path, O_RDONLY) || opens(path, O_WRONLY)) return WENT_THROUGH;
    }
    return REFUSED;
}
static int priority_user(const char *a) {
    /* All processes of a user, of which there may be some outside. */
    (void)a;
    setpriority(PRIO_USER, 0, 19), setpriority(PRIO_USER, getuid(), 19);
    return CANNOT_TELL;
}
static int async_signal(const char *a) {
    /* The kernel sends a signal to whoever is said to own a descriptor. */
    int ends[2];
    if (pipe(ends)) return CANNOT_TELL;
    fcntl(ends[0], F_SETSIG, SIGUSR1);
    fcntl(ends[0], F_SETOWN, atoi(a));
    fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    if (write(ends[1], "x", 1) != 1) return REFUSED;
    usleep(10000);
    return CANNOT_TELL;
}
static int stop_itself(const char *a) { (void)a; raise(SIGSTOP); return CANNOT_TELL; }
static int stop_group(const char *a) { (void)a; kill(0, SIGSTOP); return CANNOT_TELL; }
static int stop_warden(const char *a) { (void)a; return went(!kill(warden(), SIGSTOP) && warden() != 1); }
static int own_socket(const char *a) {
    /* Programs may talk to themselves: here 0 means that it works. */
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s/s", getenv("TMPDIR"));
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)a;
    if (server < 0 || bind(server, (struct sockaddr *)&to, sizeof to) || listen(server, 1)) return WENT_THROUGH;
    return went(connect(client, (struct sockaddr *)&to, sizeof to) != 0);
}
static int ordinary(const char *a) {
    /* What programs do all the time has to work: temporary files, a shell,
     * threads, the clock, locale files, devices. */
    char path[4200];
    snprintf(path, sizeof path, "%s/work-XXXXXX", getenv("TMPDIR"));
    int fd = mkstemp(path);
    FILE *null = fopen("/dev/null", "w"), *random = fopen("/dev/urandom", "r");
    FILE *users = fopen("/etc/passwd", "r"), *self = fopen("/proc/self/maps", "r"), *shared;
    int good = fd >= 0 && null && fputs("x", null) >= 0 && random && fgetc(random) >= 0 && users && self;
    /* The folders of PATH may be hidden. */
    good = good && system("PATH=/usr/bin:/bin; test -x /bin/sh && echo hello | grep -q hell") == 0;
    if (strcmp(a, "outside")) good = good && (shared = tmpfile()) && fputs("x", shared) >= 0;
    unlink(path);
    return went(!good);
}

static const struct {
    const char *name;
    int (*act)(const char *);
} ATTEMPTS[] = {
#define A(name) {#name, name}
    A(read_file), A(list_folder), A(write_file), A(append_file), A(truncate_file), A(create_file),
    A(chmod_file), A(fchmodat_file), A(chown_file), A(utimes_file), A(setxattr_file), A(flock_file),
    A(rename_file), A(unlink_file), A(rmdir_folder), A(make_folder), A(link_file), A(through_link),
    A(dot_dot), A(make_device), A(raw_disk), A(kernel_settings), A(handle), A(change_root),
    A(own_program), A(suid_program), A(unix_stream), A(unix_message), A(unix_pair), A(unix_abstract),
    A(tcp), A(udp), A(vsock), A(netlink), A(packet), A(raw_ip), A(alg), A(bluetooth), A(add_key),
    A(keyctl), A(ring), A(passed_ring), A(userfault), A(bpf), A(perf), A(mount_memory), A(mount_open),
    A(tree_open), A(unmount), A(remount), A(new_user), A(new_mounts), A(clone_user), A(clone3_user),
    A(other_namespace), A(old_calls), A(x32_calls), A(terminal), A(modules), A(become_root),
    A(raise_limits), A(real_time), A(trace_other), A(trace_warden), A(write_memory),
    A(read_environment), A(signal_other), A(priority_other), A(limits_other), A(affinity_other), A(wait_for_descriptor),
    A(leave_shm), A(leave_queue), A(leave_semaphore), A(leave_files), A(find_files), A(leave_many),
    A(leave_deep), A(close_folder), A(use_folder), A(sparse_file), A(race_sweeper),
    A(create_for_ever), A(change_input), A(stop_itself), A(stop_group), A(stop_warden),
    A(own_socket), A(ordinary), A(leave_names), A(find_names), A(fill_scratch), A(forge_words),
    A(flood_output), A(warden_limits), A(warden_memory), A(async_signal), A(priority_user),
};

static int attempt(const char *data, size_t length) {
    char text[4096];
    if (length >= sizeof text) length = sizeof text - 1;
    memcpy(text, data, length);
    text[length] = 0;
    char *argument = strchr(text, ' ');
    if (argument) *argument++ = 0;
    for (unsigned i = 0; i < sizeof ATTEMPTS / sizeof *ATTEMPTS; i++)
        if (!strcmp(ATTEMPTS[i].name, text)) return ATTEMPTS[i].act(argument ? argument : "");
    return 99;
}

int main(int argc, char **argv) {
    static char text[1 << 16];
    size_t length = 0;
    ssize_t got;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
    if (argc > 2) return 98;
    while (fd >= 0 && (got = read(fd, text + length, sizeof text - length)) > 0) length += got;
    return attempt(text, length);
}
