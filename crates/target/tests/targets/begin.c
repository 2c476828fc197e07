/* Programs that set themselves up before they read their input, and would break
 * a careless late fork, each in another way: the first argument says which, the
 * second is the input's path, or there is none. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char input[4096];
static size_t length;
static unsigned table[256];
static const char *path;

/* Longer than anything that follows. */
__attribute__((noinline)) static void set_up(void) {
    for (int round = 0; round < 20; round++)
        for (unsigned i = 0; i < 256; i++) table[i] = table[(i * 7 + 1) % 256] * 31 + i;
}

__attribute__((noinline)) static int judge(void) {
    int sum = 0;
    for (size_t i = 0; i < length; i++) {
        if (input[i] == 'a') abort();
        if (input[i] == 'e') exit(7);
        if (length - i >= 4 && !memcmp(input + i, "hang", 4)) for (;;) pause();
        if (input[i] == 'p') printf("%zu\n", i);
        if (input[i] >= '0' && input[i] <= '9') sum += table[(unsigned char)input[i]] & 1;
    }
    return sum < 0;
}

static void take(int fd) {
    ssize_t got;
    while (length < sizeof input && (got = read(fd, input + length, sizeof input - length)) > 0) length += (size_t)got;
}
static void take_file(const char *name) {
    int fd = open(name, O_RDONLY);
    if (fd < 0) exit(3);
    take(fd);
    close(fd);
}
static void *nothing(void *p) { return p; }
static void *forever(void *p) { for (;;) pause(); return p; }
static void ignore(int number) { (void)number; }
static int is(const char *way, const char *name) { return !strcmp(way, name); }

/* Before `main`. */
static int early;
__attribute__((constructor)) static void construct(int argc, char **argv) {
    if (argc > 1 && is(argv[1], "constructor")) take(0), early = 1;
}

static void signals(void) {
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction all = {.sa_handler = ignore, .sa_flags = SA_ONSTACK};
    sigset_t set, old;
    sigaltstack(&other, 0);
    sigfillset(&all.sa_mask);
    for (int i = 1; i < 32; i++)
        if (i != SIGABRT && i != SIGKILL && i != SIGSTOP) sigaction(i, &all, 0);
    raise(SIGUSR1);
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, &old);
    getppid();
    sigprocmask(SIG_SETMASK, 0, &old);
    if (!sigismember(&old, SIGSYS) || !sigismember(&old, SIGURG)) exit(4);
    sigaction(SIGSYS, 0, &all);
    if (all.sa_handler != ignore) exit(5);
    signal(SIGCHLD, SIG_IGN);
    sigaltstack(0, &other);
    if (other.ss_sp != stack) exit(6);
}

/* After the input: what a child must find as it was set. */
static void check_signals(void) {
    struct sigaction now;
    sigset_t mask;
    stack_t other;
    sigprocmask(SIG_SETMASK, 0, &mask);
    if (!sigismember(&mask, SIGSYS) || !sigismember(&mask, SIGURG) || !sigismember(&mask, SIGUSR1)) exit(21);
    for (int i = SIGSYS; i; i = i == SIGSYS ? SIGURG : i == SIGURG ? SIGUSR2 : 0) {
        sigaction(i, 0, &now);
        if (now.sa_handler != ignore || !sigismember(&now.sa_mask, SIGSYS)) exit(22);
    }
    sigaction(SIGCHLD, 0, &now);
    if (now.sa_handler != SIG_IGN) exit(23);
    sigaltstack(0, &other);
    if (!other.ss_sp || other.ss_flags & SS_DISABLE) exit(24);
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, 0);
}

static int run(const char *way) {
    char name[PATH_MAX];
    int fd, pair[2], status;
    pid_t before = 0;
    FILE *config = 0, *file;
    pthread_t thread;
    struct stat about;
    if (is(way, "polled")) {
        struct pollfd open_ones[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
        if (poll(open_ones, 3, 0) || poll((struct pollfd *)8, 1, 0) != -1) exit(3);
    }
    set_up();
    /* How it reads its input. */
    if (is(way, "polled")) return take(0), judge();
    if (is(way, "read")) return take(0), judge();
    if (is(way, "file")) return take_file(path), judge();
    if (is(way, "named")) return take_file(path), printf("%s\n", path), judge();
    if (is(way, "fread")) return length = fread(input, 1, sizeof input, stdin), judge();
    if (is(way, "fgets")) {
        while (length < sizeof input - 1 && fgets(input + length, (int)(sizeof input - length), stdin)) length += strlen(input + length);
        return judge();
    }
    if (is(way, "ungetc")) {
        int c = getc(stdin);
        if (c != EOF) ungetc(c, stdin);
        return length = fread(input, 1, sizeof input, stdin), judge();
    }
    if (is(way, "stat")) {
        if (stat(path, &about) || access(path, R_OK)) exit(3);
        take_file(path);
        return (off_t)length == about.st_size ? judge() : 8;
    }
    if (is(way, "realpath")) return realpath(path, name) ? take_file(name), judge() : 3;
    if (is(way, "relative")) {
        strcpy(name, path);
        if (chdir(dirname(name))) exit(3);
        strcpy(name, path);
        return take_file(basename(name)), judge();
    }
    if (is(way, "at")) {
        strcpy(name, path);
        int folder = open(dirname(name), O_RDONLY | O_DIRECTORY);
        strcpy(name, path);
        fd = openat(folder, basename(name), O_RDONLY);
        return take(fd), judge();
    }
    if (is(way, "link")) return take_file("/dev/stdin"), judge();
    if (is(way, "reopen")) {
        fd = open("/proc/self/fd/0", O_RDONLY);
        close(0);
        if (fd < 0 || dup2(fd, 0)) exit(3);
        return take(0), judge();
    }
    if (is(way, "duplicate")) {
        fd = fcntl(0, F_DUPFD, 10);
        close(0);
        if (open("/etc/passwd", O_RDONLY)) exit(3);
        return take(fd), judge();
    }
    if (is(way, "twice")) {
        fd = open(path, O_RDONLY);
        if (read(fd, name, 1) < 0) exit(3);
        close(fd);
        return take_file(path), judge();
    }
    if (is(way, "map")) {
        fd = open(path, O_RDONLY);
        if (fstat(fd, &about)) exit(3);
        length = (size_t)about.st_size < sizeof input ? (size_t)about.st_size : sizeof input;
        char *bytes = length ? mmap(0, length, PROT_READ, MAP_PRIVATE, fd, 0) : input;
        if (bytes == MAP_FAILED) exit(3);
        memmove(input, bytes, length);
        return judge();
    }
    if (is(way, "map-stdin")) {
        char *bytes = mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
        struct stat now;
        if (bytes == MAP_FAILED || fstat(0, &now)) exit(3);
        length = (size_t)now.st_size < sizeof input ? (size_t)now.st_size : sizeof input;
        memcpy(input, bytes, length);
        return judge();
    }
    if (is(way, "poll")) {
        struct pollfd ready = {0, POLLIN, 0};
        poll(&ready, 1, -1);
        return take(0), judge();
    }
    if (is(way, "select")) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(0, &set);
        select(1, &set, 0, 0, 0);
        return take(0), judge();
    }
    if (is(way, "raw")) return length = (size_t)syscall(SYS_read, 0, input, sizeof input), judge();
    if (is(way, "constructor")) return early ? judge() : 9;
    if (is(way, "size-first")) {
        off_t size = lseek(0, 0, SEEK_END);
        lseek(0, 0, SEEK_SET);
        take(0);
        return size == (off_t)length ? judge() : 8;
    }

    /* What it does before. */
    if (is(way, "config")) {
        config = fopen("/etc/passwd", "r");
        fd = open("/etc/passwd", O_RDONLY);
        char first[8], second[8], again[8];
        if (!config || !fgets(name, 10, config) || read(fd, first, 8) != 8) exit(3);
        take(0);
        if (read(fd, second, 8) != 8 || pread(fd, again, 8, 8) != 8 || memcmp(second, again, 8)) exit(10);
        if (!fgets(name, 100, config)) exit(11);
        return judge();
    }
    if (is(way, "signals")) {
        signals();
        take(0);
        check_signals();
        return judge();
    }
    if (is(way, "closes")) {
        for (fd = 3; fd < 1024; fd++) close(fd);
        syscall(436, 3, ~0u, 0);
        return take(0), judge();
    }
    if (is(way, "drops")) {
        if (setgid(getgid()) || setuid(getuid())) exit(3);
        umask(077);
        setsid();
        return take(0), judge();
    }
    if (is(way, "pid-name")) {
        snprintf(name, sizeof name, "/tmp/begin-%d", (int)getpid());
        take(0);
        fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0) exit(12);
        unlink(name);
        return judge();
    }
    if (is(way, "pid")) {
        before = getpid();
        take(0);
        return before == getpid() ? judge() : 13;
    }
    if (is(way, "time")) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        srand((unsigned)time(0) ^ (unsigned)now.tv_nsec);
        take(0);
        for (int i = rand() % 8; i; i--) table[i]++;
        return judge();
    }
    if (is(way, "random")) {
        unsigned char bytes[16];
        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) exit(3);
        take(0);
        for (int i = bytes[0] % 8; i; i--) table[i]++;
        return judge();
    }
    if (is(way, "banner")) {
        printf("flushed\n");
        fflush(stdout);
        printf("kept\n");
        take(0);
        return judge();
    }
    if (is(way, "thread")) return pthread_create(&thread, 0, forever, 0), take(0), judge();
    if (is(way, "joined")) return pthread_create(&thread, 0, nothing, 0), pthread_join(thread, 0), take(0), judge();
    if (is(way, "child")) {
        if (!(before = fork())) _exit(0);
        waitpid(before, &status, 0);
        return take(0), judge();
    }
    if (is(way, "helper")) {
        /* Nothing but the shell: targets may not see what PATH leads to. */
        file = popen("while read -r line; do :; done", "w");
        take(0);
        if (file) fwrite(input, 1, length, file), pclose(file);
        return judge();
    }
    if (is(way, "pipe")) {
        if (pipe(pair) || write(pair[1], "x", 1) != 1) exit(3);
        take(0);
        return read(pair[0], name, 1) == 1 ? judge() : 14;
    }
    if (is(way, "socket")) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[1], "x", 1) != 1) exit(3);
        take(0);
        return read(pair[0], name, 1) == 1 ? judge() : 14;
    }
    if (is(way, "timer")) {
        struct itimerval left = {{0, 0}, {1000, 0}}, now;
        setitimer(ITIMER_REAL, &left, 0);
        take(0);
        return getitimer(ITIMER_REAL, &now) || !now.it_value.tv_sec ? 15 : judge();
    }
    if (is(way, "lock")) {
        fd = open("/etc/passwd", O_RDONLY);
        if (flock(fd, LOCK_SH)) exit(3);
        return take(0), judge();
    }
    if (is(way, "lock-file")) {
        fd = open("/tmp/begin.lock", O_CREAT | O_EXCL | O_RDWR, 0600);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) exit(16);
        take(0);
        return unlink("/tmp/begin.lock") ? 17 : judge();
    }
    if (is(way, "made-link")) {
        if (symlink(path, "/tmp/begin.link")) exit(3);
        return take_file("/tmp/begin.link"), judge();
    }
    if (is(way, "shared")) {
        int *count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (count == MAP_FAILED) exit(3);
        take(0);
        return ++*count == 1 ? judge() : 18;
    }
    if (is(way, "unread")) return 0;
    return 99;
}

int main(int argc, char **argv) {
    path = argc > 2 ? argv[2] : "";
    return argc > 1 ? run(argv[1]) : 99;
}
