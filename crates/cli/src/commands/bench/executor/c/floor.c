/* What the system takes for the least that a fuzzer needs: a process that is
 * forked, exits and is waited for; and a word to another process and back,
 * over pipes, on one side. CPU time in microseconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double spent(int who) {
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double forks(int n) {
    double before = spent(RUSAGE_SELF) + spent(RUSAGE_CHILDREN);
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0) exit(1);
        if (pid == 0) exit(0);
        waitpid(pid, 0, 0);
    }
    return (spent(RUSAGE_SELF) + spent(RUSAGE_CHILDREN) - before) / n;
}

static double words(int n) {
    int to[2], from[2];
    uint64_t word = 0;
    if (pipe(to) || pipe(from)) exit(1);
    pid_t pid = fork();
    if (pid < 0) exit(1);
    if (pid == 0) {
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

int main(void) {
    printf("%f %f\n", forks(2000), words(50000));
    return 0;
}
