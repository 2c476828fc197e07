/* What the parts of the runtime know of each other. A program has one core,
 * in its executable, and one `struct wug_self` in every instrumented module:
 * the executable and each shared library. */
#ifndef WUG_INTERNAL_H
#define WUG_INTERNAL_H
#include "wug.h"
#include <stddef.h>
#include <sys/types.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
#define WEAK __attribute__((weak))
#define SITE ((uintptr_t)__builtin_return_address(0))

/* A module, as it presents itself to the core. */
struct wug_self {
    uintptr_t base;
    uint8_t *counters; /* they have their pages to themselves */
    size_t counter_count;
    uint32_t *guards;
    size_t guard_count;
    int traced;
    uint32_t index;
};

/* What the core offers to modules. Pointers are null while nobody wants to
 * know: hooks test one and return. */
struct wug_core {
    uint8_t *map;
    void (*block)(uint32_t id);
    void (*compare)(const struct wug_self *, uintptr_t site, uint64_t a, uint64_t b, unsigned size, unsigned flags);
    void (*float_compare)(const struct wug_self *, uintptr_t site, double a, double b);
    void (*switch_)(const struct wug_self *, uintptr_t site, uint64_t value, const uint64_t *cases);
    void (*note)(const struct wug_self *, uintptr_t site, unsigned kind, unsigned function, uint64_t a, uint64_t b,
                 unsigned flags);
};

/* Called once by each module, before its constructors. Never null in an
 * executable; in a library it is, when the executable is not ours. */
EXPORTED WEAK const struct wug_core *__wug_register(struct wug_self *);

extern HIDDEN struct wug_self wug_self;
extern HIDDEN const struct wug_core *wug_hooks; /* of this module; never null */

/* Inside the core. */
struct wug_state {
    struct wug_board *board;   /* null without a fuzzer of ours */
    uint8_t *map;              /* null without a fuzzer */
    size_t map_capacity;
    uint8_t *input;            /* null: standard input */
    uint32_t *input_length;
    size_t input_capacity;
    uint8_t *batch, *seen;     /* null: one input at a time */
    size_t batch_capacity, seen_capacity;
    int input_fd; /* where inputs are written that children read, or 0 */
    struct wug_module *modules;
    uint32_t module_capacity;
    uint32_t *module_count;
    uint8_t *dictionary;
    size_t dictionary_room;
    uint32_t map_used;         /* at the time of the handshake, as the fuzzer knows it */
    uint32_t map_limit;        /* ids that may be given out after it */
    int serving;               /* the handshake is over */
    int late;                  /* the server starts in the middle of the program: see late.c */
    int rewind_fd;             /* standard input, whatever the program did to it */
    int attach_failed;
    uintptr_t stack_end;
};
extern HIDDEN struct wug_state wug;
extern HIDDEN struct wug_core wug_core;

HIDDEN void wug_attach(void);
HIDDEN void wug_start(void);
HIDDEN void wug_begin_run(int fresh);
HIDDEN void wug_trace_init(void);
HIDDEN void wug_trace_begin(void);
HIDDEN void wug_crash_init(void);
/* What the fork server, or a persistent child, writes for each run: a page
 * that their children find empty. So neither side of a fork needs a copy of
 * it, and a copy of a persistent child knows that it is one. */
struct wug_server {
    pid_t child;   /* 0 while there is none */
    unsigned runs;
    int loops;     /* this process is the one that loops */
    pid_t last;    /* the child before */
    struct {
        const uint8_t *next, *end;
        uint32_t at, count;
    } batch;
};
extern HIDDEN struct wug_server *wug_server;
/* Runs of which the fork server learns: see pages.c. */
struct wug_watch;
HIDDEN struct wug_watch *wug_watch(unsigned run);
HIDDEN void wug_watched(struct wug_watch *);
HIDDEN void wug_learn(struct wug_watch *);
/* See late.c: whether the server starts later. */
HIDDEN int wug_is_watching(void);
/* Before each run of a server that started late: see place.c. */
HIDDEN void wug_place_restore(void);
/* See pins.c. */
struct iovec;
HIDDEN void wug_pin(struct iovec *parts, unsigned count);
HIDDEN void wug_take_ring(void); /* after the input's file has its number */
extern HIDDEN int wug_last_fd; /* of those that children close */
HIDDEN int wug_loop(unsigned count);
/* What a harness in the manner of libFuzzer said of its last input: 0, or that
 * it rejects it. A persistent run then counts as if it had exited with 1. */
extern HIDDEN int wug_result;
/* See batch.c. */
HIDDEN int wug_batch_ready(void);
HIDDEN void wug_batch_begin(void);
HIDDEN int wug_batch_next(void);
/* Writes words of the program, a length byte before each; how many bytes. */
HIDDEN size_t wug_dictionary(uint8_t *to, size_t room);
HIDDEN int wug_module_of(uintptr_t pc, uint32_t *site);

/* Marks that a part of the archive was linked: see the files of that name.
 * Null otherwise. Not hidden here, where they may be missing: some linkers
 * give a missing hidden symbol an address. */
extern WEAK const char wug_is_persistent[];
extern WEAK const char wug_is_deferred[];
extern WEAK const char wug_is_traced[];
/* Defined, and 1, by programs that read inputs from shared memory. */
extern WEAK int __afl_sharedmem_fuzzing;
#define SHARES_INPUT (&__afl_sharedmem_fuzzing && __afl_sharedmem_fuzzing)
extern WEAK void __asan_init(void);
extern WEAK void __msan_init(void);
extern WEAK void __tsan_init(void);
#endif
