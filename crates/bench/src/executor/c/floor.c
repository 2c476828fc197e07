/* What the system takes for the least that a fuzzer needs: a process that is
 * forked, exits and is waited for, as libc does it and by the bare call; and
 * a word to another process and back, on one side: over pipes, on one core
 * and across two; by futex; and by two processes that only give way to each
 * other until a word in shared memory has changed. CPU time in microseconds. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static double spent(int who) {
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double forks(int n, int bare) {
    double before = spent(RUSAGE_SELF) + spent(RUSAGE_CHILDREN);
    for (int i = 0; i < n; i++) {
        pid_t pid = bare ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
        if (pid < 0) exit(1);
        if (pid == 0 && bare) syscall(SYS_exit_group, 0);
        if (pid == 0) exit(0);
        waitpid(pid, 0, 0);
    }
    return (spent(RUSAGE_SELF) + spent(RUSAGE_CHILDREN) - before) / n;
}

/* Another core than this one, or -1. */
static int another(void) {
    int own = sched_getcpu();
    for (int core = 0; core < 64; core++) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(core, &set);
        if (core == own || sched_setaffinity(0, sizeof set, &set)) continue;
        CPU_ZERO(&set);
        CPU_SET(own, &set);
        sched_setaffinity(0, sizeof set, &set);
        return core;
    }
    return -1;
}

static double words(int n, int core) {
    int to[2], from[2];
    uint64_t word = 0;
    if (pipe(to) || pipe(from)) exit(1);
    pid_t pid = fork();
    if (pid < 0) exit(1);
    if (pid == 0) {
        if (core >= 0) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(core, &set);
            sched_setaffinity(0, sizeof set, &set);
        }
        for (int i = 0; i < n; i++)
            if (read(to[0], &word, 4) != 4 || write(from[1], &word, 8) != 8) exit(1);
        exit(0);
    }
    double before = spent(RUSAGE_SELF);
    for (int i = 0; i < n; i++)
        if (write(to[1], &word, 4) != 4 || read(from[0], &word, 8) != 8) exit(1);
    double after = spent(RUSAGE_SELF);
    waitpid(pid, 0, 0);
    return (after - before) / n;
}

static void await(volatile uint32_t *word, uint32_t value, int yield) {
    while (*word != value) {
        if (yield) sched_yield();
        else syscall(SYS_futex, word, FUTEX_WAIT, value - 1, 0, 0, 0);
    }
}

static void tell(volatile uint32_t *word, uint32_t value, int yield) {
    *word = value;
    if (!yield) syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
}

static double shared(uint32_t n, int yield) {
    volatile uint32_t *to = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *from = to + 16;
    if (to == MAP_FAILED) exit(1);
    pid_t pid = fork();
    if (pid < 0) exit(1);
    if (pid == 0) {
        for (uint32_t i = 1; i <= n; i++) await(to, i, yield), tell(from, i, yield);
        exit(0);
    }
    double before = spent(RUSAGE_SELF);
    for (uint32_t i = 1; i <= n; i++) tell(to, i, yield), await(from, i, yield);
    double after = spent(RUSAGE_SELF);
    waitpid(pid, 0, 0);
    return (after - before) / n;
}

int main(void) {
    int other = another();
    double fork = forks(2000, 0), bare = forks(2000, 1), word = words(50000, -1);
    double across = other < 0 ? 0 : words(5000, other);
    printf("%f %f %f %f %f %f\n", fork, bare, word, across, shared(50000, 0), shared(50000, 1));
    return 0;
}
