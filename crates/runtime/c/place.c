/* Whether a fork keeps all that a process has, and what of it children would
 * share: looked at where the fork server is about to start.
 *
 * A fork copies memory, and shares open files with their positions. It does
 * not copy threads, timers and locks, and children are not the child's. Files
 * that were open for reading get their positions back before each run
 * (wug_place_restore): what one child read is not missing for the next. */
#define _GNU_SOURCE
#include "late.h"

#ifdef WUG_CAN_BE_LATE
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 4096
#define MOST_FILES 32

static struct {
    int fd;
    long position;
} files[MOST_FILES];
static unsigned file_count;
static struct stat outputs[2]; /* standard output and error, as they were given */

/* glibc 2.32 and later. */
extern WEAK char __libc_single_threaded;

HIDDEN void wug_place_begin(void) {
    for (int i = 0; i < 2; i++) GATE2(SYS_fstat, i + 1, &outputs[i]);
}

static int is_alone(void) {
    struct stat tasks;
    /* A folder for each thread; two links are the folder's own. */
    if (!GATE2(SYS_stat, "/proc/self/task", &tasks)) return tasks.st_nlink <= 3;
    return !&__libc_single_threaded || __libc_single_threaded;
}

static int has_timer(void) {
    struct itimerval left;
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
        if (!GATE2(SYS_getitimer, which, &left) && (left.it_value.tv_sec || left.it_value.tv_usec)) return 1;
    return 0;
}

static int is_given(int fd, const struct stat *file) {
    if (fd != 1 && fd != 2) return 0;
    const struct stat *was = &outputs[fd - 1];
    return was->st_ino == file->st_ino && was->st_dev == file->st_dev;
}

/* An open descriptor: WUG_LATE_*, or 0. */
static uint32_t judge_descriptor(int fd) {
    struct stat file;
    if (GATE2(SYS_fstat, fd, &file) || is_given(fd, &file)) return 0;
    if (file.st_ino == wug.board->input_inode && file.st_dev == wug.board->input_device) return 0;
    if (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode)) return WUG_LATE_PIPE;
    if (S_ISCHR(file.st_mode) || S_ISBLK(file.st_mode)) return 0;
    /* Timers, queues of events and the like have no kind of their own. */
    if (!S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) return WUG_LATE_PIPE;
    if (S_ISREG(file.st_mode) && (GATE2(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY) return WUG_LATE_WRITES;
    long position = GATE4(SYS_lseek, fd, 0, SEEK_CUR, 0);
    if (position < 0) return 0;
    if (file_count == MOST_FILES) return WUG_LATE_DESCRIPTORS;
    files[file_count].fd = fd;
    files[file_count++].position = position;
    return 0;
}

HIDDEN uint32_t wug_place_judge(void) {
    struct rlimit most = {0, 0};
    siginfo_t child;
    if (!is_alone()) return WUG_LATE_PROCESS;
    if (GATE(SYS_waitid, P_ALL, 0, &child, WEXITED | WSTOPPED | WNOHANG | WNOWAIT, 0, 0) != -ECHILD) return WUG_LATE_PROCESS;
    if (has_timer()) return WUG_LATE_TIMER;
    GATE2(SYS_getrlimit, RLIMIT_NOFILE, &most);
    int end = most.rlim_cur < MOST_DESCRIPTORS ? (int)most.rlim_cur : MOST_DESCRIPTORS;
    for (int fd = 0; fd < end; fd++) {
        if (fd >= WUG_FIRST_FD && fd <= WUG_LAST_FD) continue;
        uint32_t why = judge_descriptor(fd);
        if (why) return why;
    }
    return 0;
}

HIDDEN void wug_place_restore(void) {
    for (unsigned i = 0; i < file_count; i++) lseek(files[i].fd, files[i].position, SEEK_SET);
}
#else
HIDDEN void wug_place_restore(void) {}
#endif
