/* Makes children of a fork server cheap, by learning which pages runs touch.
 *
 * Fork does not copy the page tables of code and constants: they belong to
 * files, and each child finds their pages again, by a fault for each, which
 * also brings in its neighbours, of which the end of the child must let go.
 * But fork copies the entries of private copies. So the server watches a few
 * runs, makes private copies of the pages that these touched, and drops its
 * own entries of all others. Data that these runs wrote is pinned (pins.c):
 * fork then copies it at once. What the program sees stays the same.
 *
 * How a run is watched: its code is cut into mappings of a page each (by an
 * advice about reading ahead, which changes nothing else), so that a fault
 * brings in no neighbours; and another process shares its memory, so that
 * this is still there when the run is over. That one then reads which pages
 * are present, and which are no longer the server's. A program can notice it only by looking at its own mappings,
 * or by asking for a user namespace of its own (unshare refuses that to those
 * who share memory).
 *
 * Whatever the system does not permit is left out: then children cost what
 * they cost without. Rejected: ptrace, which programs notice more easily; a
 * list of functions that are likely to be called.
 *
 * Calls that read go past libc: in traced builds, its functions log. */
#define _GNU_SOURCE
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE ((uintptr_t)4096)
#define RANGES 64
#define PAGES 8192 /* that are watched: 32 MB of code and data */
#define STACK 16384
#define PARTS 64

/* Bits of /proc/self/pagemap. */
#define PRESENT (UINT64_C(1) << 63)
#define OF_FILE (UINT64_C(1) << 61)
#define NOT_SHARED (UINT64_C(1) << 56)

struct range {
    uintptr_t start, end;
    int rights;
    unsigned first; /* number of the first page */
};

/* Shared with the run that is watched, which may write anything here: what
 * the server reads is only ever a hint. */
struct report {
    uint32_t over; /* the run is: the watcher wakes up */
    pid_t watcher;
    uint8_t touched[PAGES / 8];
    uint8_t stack[STACK] __attribute__((aligned(64)));
};

/* The server's own. */
struct wug_watch {
    struct report *report;
    pid_t server;
    unsigned count;
    struct range ranges[RANGES];
};

static unsigned number_of(const struct range *r, uintptr_t at) { return r->first + (unsigned)((at - r->start) / PAGE); }
static void set(uint8_t *bits, unsigned n) { bits[n / 8] |= (uint8_t)(1 << n % 8); }
static int get(const uint8_t *bits, unsigned n) { return bits[n / 8] >> n % 8 & 1; }

static void add(struct wug_watch *w, unsigned *pages, const char *line) {
    char *at;
    uintptr_t start = strtoul(line, &at, 16), end = strtoul(at + 1, &at, 16);
    const char *rights = at + 1;
    if (*at != ' ' || rights[0] != 'r' || rights[3] != 'p') return;
    int all = PROT_READ | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
    if (!(all & PROT_WRITE)) {
        /* Of a file, whose number is the third word after the rights. */
        strtoul(rights + 4, &at, 16);
        strtoul(at, &at, 16);
        strtoul(at + 1, &at, 16);
        if (!strtoul(at, &at, 10)) return;
    } else if (start == (uintptr_t)w || start == (uintptr_t)wug_server) return;
    /* Of much data, runs hardly write the same parts. */
    if (w->count == RANGES || (end - start) / PAGE > PAGES - *pages) return;
    if (all & PROT_WRITE && (end - start) / PAGE > PAGES / 8) return;
    w->ranges[w->count++] = (struct range){start, end, all, *pages};
    *pages += (unsigned)((end - start) / PAGE);
}

/* Finds code, constants and data. */
static int survey(struct wug_watch *w) {
    char text[1024], line[128];
    unsigned n = 0, pages = 0;
    ssize_t got;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    while ((got = syscall(SYS_read, file, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got; i++)
            if (text[i] == '\n') {
                line[n] = 0;
                add(w, &pages, line);
                n = 0;
            } else if (n < sizeof line - 1) line[n++] = text[i];
    close(file);
    return w->count > 0;
}

static void *memory(size_t size, int kind) {
    void *p = mmap(0, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? 0 : p;
}

static void release(struct wug_watch *w) {
    if (w->report) munmap(w->report, sizeof *w->report);
    munmap(w, sizeof *w);
}

/* Before a fork: non-null if the run is to be watched. Early, since most pages
 * are touched by every run, and then ever more rarely. */
HIDDEN struct wug_watch *wug_watch(unsigned run) {
    if (run != 2 && run != 128 && run != 8192) return 0;
    if (__asan_init || __msan_init || __tsan_init || sysconf(_SC_PAGESIZE) != PAGE) return 0;
    struct wug_watch *w = memory(sizeof *w, MAP_PRIVATE);
    if (!w) return 0;
    w->server = getpid();
    w->report = memory(sizeof *w->report, MAP_SHARED);
    if (w->report && survey(w)) return w;
    release(w);
    return 0;
}

/* Sets the bits of pages whose entries in this process have these bits; of
 * data, other ones. */
static void scan(const struct wug_watch *w, uint64_t code, uint64_t data, uint8_t *bits) {
    uint64_t entries[128];
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    for (unsigned i = 0; i < w->count; i++) {
        const struct range *r = &w->ranges[i];
        uint64_t wanted = r->rights & PROT_WRITE ? data : code;
        unsigned done = 0, pages = (unsigned)((r->end - r->start) / PAGE);
        while (done < pages) {
            size_t ask = (pages - done < 128 ? pages - done : 128) * sizeof *entries;
            off_t from = (off_t)((r->start / PAGE + done) * sizeof *entries);
            long got = syscall(SYS_pread64, file, entries, ask, from);
            if (got < (long)sizeof *entries) break;
            for (unsigned k = 0; k < (size_t)got / sizeof *entries; k++, done++)
                if ((entries[k] & wanted) == wanted) set(bits, r->first + done);
        }
    }
    close(file);
}

/* The watcher: in the memory of the run, on a stack of its own. */
static int look(void *of) {
    const struct wug_watch *w = of;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (!__atomic_load_n(&w->report->over, __ATOMIC_ACQUIRE)) {
        if (getppid() != w->server) return 0;
        syscall(SYS_futex, &w->report->over, FUTEX_WAIT, 0, 0, 0, 0);
    }
    scan(w, PRESENT, PRESENT | NOT_SHARED, w->report->touched);
    return 0;
}

/* In the child whose run is watched, before it begins. */
HIDDEN void wug_watched(struct wug_watch *w) {
    for (unsigned i = 0; i < w->count; i++)
        for (uintptr_t at = w->ranges[i].start + PAGE; at < w->ranges[i].end; at += 2 * PAGE)
            if (!(w->ranges[i].rights & PROT_WRITE)) madvise((void *)at, PAGE, MADV_RANDOM);
    w->report->watcher = clone(look, w->report->stack + STACK, CLONE_VM | CLONE_PARENT | SIGCHLD, w);
}

/* Waits for the watcher, but not for ever: it is in the hands of the run. */
static void await(pid_t pid) {
    for (int i = 0; i < 1000; i++) {
        pid_t dead = wait4(pid, 0, WNOHANG | __WALL, 0);
        if (dead == pid || (dead < 0 && errno != EINTR)) return;
        struct timespec pause = {0, 100000};
        nanosleep(&pause, 0);
    }
    kill(pid, SIGKILL);
    wait4(pid, 0, __WALL, 0);
}

/* Makes private copies of the pages that were touched. */
static void copy(const struct range *r, const uint8_t *touched) {
    int writable = 0;
    for (uintptr_t at = r->start; at < r->end; at += PAGE) {
        if (!get(touched, number_of(r, at))) continue;
        if (!writable && mprotect((void *)r->start, r->end - r->start, r->rights | PROT_WRITE)) return;
        writable = 1;
        if (madvise((void *)at, PAGE, MADV_POPULATE_WRITE)) {
            volatile char *byte = (volatile char *)at;
            *byte = *byte;
        }
    }
    if (writable) mprotect((void *)r->start, r->end - r->start, r->rights);
}

/* Drops entries of the file's own pages: private copies stay, also those that
 * the loader has changed. */
static void drop(const struct range *r, const uint8_t *unused) {
    for (uintptr_t at = r->start; at < r->end; at += PAGE)
        if (get(unused, number_of(r, at))) madvise((void *)at, PAGE, MADV_DONTNEED);
}

/* Adds the pages of data that were written, those side by side as one part. */
static unsigned written(const struct range *r, const uint8_t *touched, struct iovec *parts, unsigned count) {
    for (uintptr_t at = r->start; at < r->end; at += PAGE) {
        if (!get(touched, number_of(r, at))) continue;
        struct iovec *last = count ? &parts[count - 1] : 0;
        if (last && (uintptr_t)last->iov_base + last->iov_len == at) last->iov_len += PAGE;
        else if (count < PARTS) parts[count++] = (struct iovec){(void *)at, PAGE};
    }
    return count;
}

/* In the server, after a run that was watched. */
HIDDEN void wug_learn(struct wug_watch *w) {
    uint8_t touched[PAGES / 8], unused[PAGES / 8] = {0};
    struct iovec parts[PARTS];
    unsigned count = 0;
    pid_t watcher = w->report->watcher;
    __atomic_store_n(&w->report->over, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &w->report->over, FUTEX_WAKE, 1, 0, 0, 0);
    if (watcher > 0) await(watcher);
    memcpy(touched, w->report->touched, sizeof touched);
    for (unsigned i = 0; i < w->count; i++) {
        const struct range *r = &w->ranges[i];
        uintptr_t here = (uintptr_t)wug_learn;
        if (here >= r->start && here < r->end) set(touched, number_of(r, here));
        if (r->rights & PROT_WRITE) count = written(r, touched, parts, count);
        else copy(r, touched);
    }
    wug_pin(parts, count);
    scan(w, PRESENT | OF_FILE, ~UINT64_C(0), unused);
    for (unsigned i = 0; i < w->count; i++) drop(&w->ranges[i], unused);
    release(w);
}
