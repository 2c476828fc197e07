/* The fork server, and the loop of persistent targets. `wug.h` says who
 * sends what, and who may write when. */
#define _GNU_SOURCE
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum role {
    ALONE,      /* no fuzzer: one run */
    FRESH,      /* a child that makes one run */
    LOOPING,    /* a persistent child that talks to the pipes itself */
    STOPPING,   /* a persistent child of AFL++: it stops after each run */
};
static enum role role;
HIDDEN int wug_result;
static struct wug_server nobody;
HIDDEN struct wug_server *wug_server = &nobody;

/* Not in every libc; without the handlers that a program gives to fork. */
extern WEAK pid_t _Fork(void);

static int take(void *to, size_t n) {
    ssize_t k;
    do k = read(WUG_CONTROL_FD, to, n);
    while (k < 0 && errno == EINTR);
    return k == (ssize_t)n ? 1 : k == 0 ? 0 : -1;
}

/* Whether there is a number to take. */
static int waiting(void) {
    int bytes = 0;
    return !ioctl(WUG_CONTROL_FD, FIONREAD, &bytes) && bytes >= 4;
}

static int give(const void *from, size_t n) {
    const char *p = from;
    while (n) {
        ssize_t k = write(WUG_STATUS_FD, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return 0;
        p += k, n -= (size_t)k;
    }
    return 1;
}

static int say(uint32_t word) { return give(&word, 4); }

static int reply(uint32_t run, int status) {
    uint32_t words[2] = {run, (uint32_t)status};
    return give(words, 8);
}

static void close_pipes(void) {
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, WUG_CONTROL_FD, wug_last_fd, 0)) return;
#endif
    for (int fd = WUG_CONTROL_FD; fd <= wug_last_fd; fd++) close(fd);
}

/* Sanitizers need to see a fork; for others the plain call is enough. */
static pid_t fork_child(void) {
    wug_server->child = 0;
    return _Fork && !__asan_init && !__msan_init && !__tsan_init ? _Fork() : fork();
}

/* What a program that was under way had set for signals that the server needs,
 * for its children. */
static struct sigaction their_stop, their_children;

static void give_back(void) {
    if (!wug.late) return;
    sigaction(WUG_STOP_SIGNAL, &their_stop, 0);
    sigaction(SIGCHLD, &their_children, 0);
}

static void stop(int signal) {
    pid_t pid = wug_server->child;
    uint32_t run = wug.board->stop_run;
    (void)signal;
    if (pid > 0 && run && run != wug.board->finished) kill(pid, SIGKILL);
}

/* Waits for the child. As the first process of a pid namespace we are also
 * the one that orphans come to. */
static int wait_child(pid_t pid, int options, struct rusage *usage) {
    static int adopts = -1;
    int status;
    if (adopts < 0) adopts = getpid() == 1;
    for (;;) {
        pid_t dead = wait4(adopts ? -1 : pid, &status, options, usage);
        if (dead == pid) return status;
        if (dead < 0 && errno != EINTR) _exit(1);
    }
}

HIDDEN void wug_begin_run(int fresh) {
    if (fresh && wug.map) {
        /* Drop what the program did on its way to its first run. */
        uint32_t used = wug.board ? wug.board->map_used : wug.map_used;
        memset(wug.map, 0, used < wug.map_capacity ? used : wug.map_capacity);
    }
    wug_trace_begin();
}

static uint64_t cpu_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- our own protocol ---- */

static uint64_t started;

/* In a persistent child: waits for the next run. */
static void next_run(int fresh) {
    struct wug_board *board = wug.board;
    uint32_t run;
    __atomic_store_n(&board->state, WUG_STATE_IDLE, __ATOMIC_RELEASE);
    int got = take(&run, 4);
    if (got == 0) __atomic_store_n(&board->state, WUG_STATE_GONE, __ATOMIC_RELEASE);
    if (got != 1) _exit(0);
    board->run = run;
    __atomic_store_n(&board->state, WUG_STATE_RUNNING, __ATOMIC_RELEASE);
    if (board->wants & WUG_WANT_CPU_TIME) started = cpu_clock();
    wug_batch_begin();
    wug_begin_run(fresh);
}

static void finish_run(void) {
    struct wug_board *board = wug.board;
    board->cpu_ns = board->wants & WUG_WANT_CPU_TIME ? cpu_clock() - started : 0;
    board->finished = board->run;
    __atomic_store_n(&board->state, WUG_STATE_REPLYING, __ATOMIC_RELEASE);
    if (!reply(board->run, wug_result ? 1 << 8 : 0)) {
        __atomic_store_n(&board->state, WUG_STATE_CLOSED, __ATOMIC_RELEASE);
        _exit(0);
    }
}

static uint64_t microseconds(const struct timeval *t) { return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec; }

static uint64_t cpu_of(const struct rusage *usage) {
    return 1000 * (microseconds(&usage->ru_utime) + microseconds(&usage->ru_stime));
}

static void finish_for_child(int status, uint64_t cpu_ns) {
    struct wug_board *board = wug.board;
    wug_server->child = 0;
    board->cpu_ns = cpu_ns;
    board->finished = board->run;
    if (!reply(board->run, status)) _exit(0);
}

/* Remembers the child, so that it can be stopped; a request that came before
 * we knew it is carried out now. */
static void watch(pid_t pid) {
    if (pid < 0) _exit(1);
    wug.board->child_pid = pid;
    wug_server->child = pid;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stop(0);
}

/* Whether the next input of a batch may follow this child. */
static int goes_on(pid_t pid, int status) {
    pid_t before = wug_server->last;
    int code = WEXITSTATUS(status);
    wug_server->last = pid;
    return (!before || pid == before + 1) && !wug.board->stop_run && WIFEXITED(status) &&
           !(wug.board->crash_codes[code / 8] >> code % 8 & 1);
}

static void serve_fresh(void) {
    struct wug_board *board = wug.board;
    struct rusage usage;
    uint32_t wants = board->wants;
    role = FRESH;
    wug_begin_run(0);
    for (;;) {
        uint32_t run;
        if (take(&run, 4) != 1) _exit(0);
        board->run = run;
        board->state = WUG_STATE_RUNNING;
        if (board->wants != wants) {
            /* Here and not in the child, to which it would be a page. */
            wants = board->wants;
            wug_begin_run(0);
        }
        uint64_t cpu_ns = 0;
        int status, more;
        pid_t pid;
        wug_batch_begin();
        do {
            struct wug_watch *watched = wug_watch(++wug_server->runs);
            wug_place_restore();
            pid = fork_child();
            if (pid == 0) {
                close_pipes();
                give_back();
                if (watched) wug_watched(watched);
                return;
            }
            watch(pid);
            status = wait_child(pid, 0, &usage);
            wug_server->child = 0;
            cpu_ns += cpu_of(&usage);
            more = goes_on(pid, status);
            if (watched) {
                wug_learn(watched);
                wug_server->last = 0; /* learning takes a number */
            }
        } while (more && wug_batch_next());
        finish_for_child(status, cpu_ns);
    }
}

static void serve_looping(void) {
    struct wug_board *board = wug.board;
    struct rusage usage;
    for (;;) {
        board->state = WUG_STATE_STARTING;
        pid_t pid = fork_child();
        if (pid == 0) {
            role = LOOPING;
            return;
        }
        watch(pid);
        int status = wait_child(pid, 0, &usage);
        uint32_t stopped = board->stop_run == board->finished ? 0 : board->stop_run;
        switch (__atomic_load_n(&board->state, __ATOMIC_ACQUIRE)) {
        case WUG_STATE_GONE: _exit(0);
        case WUG_STATE_IDLE:
        case WUG_STATE_STARTING:
            /* It may have died with the run's number in its hands, before it
             * could say so. The fuzzer then stops the run that it waits for,
             * and that is answered, whether or not the number was taken. */
            if (stopped) {
                board->run = stopped;
                if (waiting()) take(&board->run, 4);
                finish_for_child(status, cpu_of(&usage));
            } else if (board->state == WUG_STATE_STARTING) {
                /* It never came to a run: that is the next run's verdict. */
                if (take(&board->run, 4) != 1) _exit(0);
                finish_for_child(status, cpu_of(&usage));
            }
            break;
        case WUG_STATE_CLOSED: finish_for_child(0, cpu_of(&usage)); break;
        default: finish_for_child(status, cpu_of(&usage));
        }
        wug_server->child = 0;
    }
}

/* ---- AFL++ ---- */

/* A persistent child stops itself after a run and is continued for the next. */
static void serve_afl(void) {
    struct rusage usage;
    struct wug_watch *watched = 0;
    pid_t pid = 0;
    int stopped = 0;
    for (;;) {
        uint32_t killed;
        if (take(&killed, 4) != 1) {
            if (stopped) kill(pid, SIGKILL);
            _exit(0);
        }
        if (stopped && killed) {
            wait_child(pid, 0, &usage);
            stopped = 0;
        }
        if (stopped) {
            kill(pid, SIGCONT);
            stopped = 0;
        } else {
            if (!wug_is_persistent) watched = wug_watch(++wug_server->runs);
            pid = fork_child();
            if (pid < 0) _exit(1);
            if (pid == 0) {
                close_pipes();
                if (watched) wug_watched(watched);
                role = wug_is_persistent ? STOPPING : FRESH;
                if (role == FRESH) wug_begin_run(0);
                return;
            }
        }
        if (!say((uint32_t)pid)) _exit(0);
        int status = wait_child(pid, wug_is_persistent ? WUNTRACED : 0, &usage);
        if (WIFSTOPPED(status)) stopped = 1;
        if (!say((uint32_t)status)) _exit(0);
        if (watched) wug_learn(watched);
        watched = 0;
    }
}

/* ---- handshakes ---- */

static uint32_t map_size(void) {
    const char *text = getenv(WUG_ENV_RESERVE);
    long reserve = text ? strtol(text, 0, 10) : 0;
    uint32_t size = wug.map_used ? wug.map_used : 1;
    if (!wug.board && reserve > 0 && reserve < (1 << 24)) {
        size = (size + WUG_MAP_PAGE - 1) & ~(WUG_MAP_PAGE - 1);
        size += ((uint32_t)reserve + WUG_MAP_PAGE - 1) & ~(WUG_MAP_PAGE - 1);
    }
    return size;
}

#define AFL_DICTIONARY ((size_t)32 << 10)

/* AFL++ reads the words from the pipe: they are gone after the handshake. */
static uint8_t *words_for_afl(uint32_t *length) {
    uint8_t *words = mmap(0, AFL_DICTIONARY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED) return 0;
    *length = (uint32_t)wug_dictionary(words, AFL_DICTIONARY);
    return words;
}

static void give_words(const uint8_t *words, uint32_t length) {
    if (!say(length) || !give(words, length)) _exit(1);
}

static void handshake_v1(void) {
    uint32_t answer = 0, size = map_size(), error = 0, length = 0;
    uint8_t *words = wug.board ? 0 : words_for_afl(&length);
    if (wug.attach_failed) error = WUG_V1_ERROR_MAP;
    else if (wug.map && wug.map_used > wug.map_capacity) error = WUG_V1_ERROR_MAP_SIZE;
    if (!say(WUG_V1_HELLO) || take(&answer, 4) != 1 || answer != ~WUG_V1_HELLO) _exit(1);
    if (error) {
        say(WUG_V1_ERROR | error);
        _exit(1);
    }
    say(WUG_V1_MAPSIZE | (wug.input && SHARES_INPUT ? WUG_V1_SHARED_INPUT : 0) | (length ? WUG_V1_AUTODICT : 0));
    say(size);
    if (length) give_words(words, length);
    if (words) munmap(words, AFL_DICTIONARY);
    if (!say(WUG_V1_HELLO)) _exit(1);
}

static void handshake_old(void) {
    /* No dictionary: afl-showmap does not answer the offer of one. */
    uint32_t size = map_size(), options = 0, answer;
    int offers_input = wug.input != 0;
    if (size <= WUG_OLD_MAX_MAPSIZE) options |= WUG_OLD_MAPSIZE | (size - 1) << 1;
    if (offers_input) options |= WUG_OLD_SHARED_INPUT;
    if (options) options |= WUG_OLD_ENABLED;
    if (!say(options)) _exit(1);
    if (!offers_input) return;
    if (take(&answer, 4) != 1) _exit(1);
    if ((answer & WUG_OLD_SHARED_INPUT) == 0) wug.input = 0;
}

/* The file that children read their input from gets the number after the pipes,
 * so that children close it with them; where nobody writes to it, it is closed. */
static void take_input_file(int wanted) {
    int given = wug.board ? (int)wug.board->input_fd : 0;
    if (given <= 0) return;
    int fd = wanted ? fcntl(given, F_DUPFD_CLOEXEC, WUG_STATUS_FD + 1) : -1;
    close(given);
    if (fd == WUG_STATUS_FD + 1) wug.input_fd = wug_last_fd = fd;
    else if (fd >= 0) close(fd);
}

/* The copy of standard input, likewise: the program may have put another file in
 * its place. */
static void take_standard_input(void) {
    if (!wug.late) return;
    int fd = fcntl(WUG_FIRST_FD, F_DUPFD_CLOEXEC, wug_last_fd + 1);
    close(WUG_FIRST_FD);
    if (fd == wug_last_fd + 1) wug.rewind_fd = wug_last_fd = fd;
    else if (fd >= 0) close(fd);
    if (!wug.rewind_fd) wug.input_fd = 0; /* no batches then: see batch.c */
}

/* glibc 2.35 and later. */
extern WEAK const ptrdiff_t __rseq_offset;
extern WEAK const unsigned __rseq_size;

/* Before the first fork: what would make each of them dearer is put aside. */
static void settle(void) {
    struct wug_server *own = mmap(0, WUG_MAP_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own != MAP_FAILED && !madvise(own, WUG_MAP_PAGE, MADV_WIPEONFORK)) wug_server = own;
#if defined __x86_64__ && !defined __ILP32__ && defined SYS_rseq
    /* Restartable sequences: the system writes to their record after each
     * fork, on both sides. It then says itself that there are none, which
     * all who use them must be prepared for. */
    char *thread;
    __asm__("mov %%fs:0, %0" : "=r"(thread));
    if (&__rseq_offset && __rseq_size) syscall(SYS_rseq, thread + __rseq_offset, 32, 1 /* undo */, 0x53053053);
#endif
}

/* Answers the fuzzer and serves it. Returns only in children, or when there
 * is no fuzzer. */
HIDDEN void wug_start(void) {
    static int done;
    if (done) return;
    done = 1;
    wug_attach();
    if (!wug.board && getenv("AFL_DUMP_MAP_SIZE")) {
        printf("%u\n", map_size());
        exit(-1);
    }
    if (!wug.board && !wug.map && !wug.attach_failed) return;
    if (fcntl(WUG_STATUS_FD, F_GETFD) < 0) {
        wug.input = 0; /* nobody agreed to put one there */
        take_input_file(0);
        if (wug.board) close(WUG_RING_FD);
        wug_begin_run(0);
        return;
    }
    if (wug.board) {
        struct wug_board *board = wug.board;
        struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
        int shared = wug.input && SHARES_INPUT, loops = wug_is_persistent && !(board->wants & WUG_WANT_FORK);
        if (!shared) wug.input = 0;
        take_input_file(!shared && !loops);
        take_standard_input();
        wug_take_ring();
        board->features |= (wug_is_persistent ? WUG_HAS_PERSISTENT : 0) | (shared ? WUG_HAS_SHARED_INPUT : 0) |
                           (wug_is_deferred ? WUG_HAS_DEFERRED : 0) | (__asan_init ? WUG_HAS_SANITIZER : 0) |
                           (wug_batch_ready() ? WUG_HAS_BATCH : 0) | (wug.late ? WUG_HAS_LATE : 0);
        if (wug.dictionary) board->dictionary_used = (uint32_t)wug_dictionary(wug.dictionary, wug.dictionary_room);
        sigaction(WUG_STOP_SIGNAL, &action, &their_stop);
        sigset_t stops;
        sigemptyset(&stops);
        sigaddset(&stops, WUG_STOP_SIGNAL);
        /* Children get their mask back from the frame of late.c's handler. */
        if (wug.late) sigprocmask(SIG_UNBLOCK, &stops, 0);
    }
    if (!sigaction(SIGCHLD, 0, &their_children) && (wug.late || their_children.sa_handler == SIG_IGN))
        signal(SIGCHLD, SIG_DFL);
    const char *protocol = getenv(WUG_ENV_FORKSERVER);
    if (wug.board || (protocol && !strcmp(protocol, "v1"))) handshake_v1();
    else handshake_old();
    wug.serving = 1;
    settle();
    if (!wug.board) {
        if (map_size() < wug.map_limit) wug.map_limit = (map_size() + WUG_MAP_PAGE - 1) & ~(WUG_MAP_PAGE - 1);
        serve_afl();
    } else if (wug_is_persistent && !(wug.board->wants & WUG_WANT_FORK)) serve_looping();
    else serve_fresh();
}

/* The body of __AFL_LOOP: true while there is another run to make. The last
 * run is not answered here but by the end of the process, so that what
 * happens on the way out belongs to it. */
HIDDEN int wug_loop(unsigned count) {
    static unsigned left;
    static int begun;
    wug_start();
    if (!begun) {
        begun = wug_server->loops = 1;
        left = count;
        if (role == LOOPING) next_run(1);
        else if (role == STOPPING) wug_begin_run(1);
        return count != 0;
    }
    /* A process that the target forked has no part in the loop. */
    if (role >= LOOPING && !wug_server->loops) {
        close_pipes();
        role = FRESH;
    }
    if (role < LOOPING || left == 0 || --left == 0) {
        left = 0;
        return 0;
    }
    if (role == LOOPING) {
        if (wug_batch_next()) return 1;
        finish_run();
        next_run(0);
    } else {
        raise(SIGSTOP);
        wug_begin_run(0);
    }
    return 1;
}

/* Last of the constructors without a priority, since our objects come last
 * on the linker's command line. */
__attribute__((constructor)) static void automatic(void) {
    if (!wug_is_deferred && !wug_is_watching()) wug_start();
}
