/* The agreement between a fuzzer and a target that was built with `wug cc`.
 *
 * Rust sees the same in `wug_runtime::abi`; a test compiles this file and
 * compares every constant, size and offset. Change both together, and raise
 * WUG_ABI_VERSION when an old fuzzer could misread a new target.
 *
 * A target speaks one of three protocols, chosen by its environment:
 *
 *   native   __WUG_BOARD=FD is set: FD is a descriptor (a memfd) of a shared
 *            segment that begins with `struct wug_board`. Handshake as v1.
 *   old      __AFL_SHM_ID is set: AFL++ before 4.20. The default for AFL++,
 *            since later versions still speak it.
 *   v1       __AFL_SHM_ID is set and WUG_FORKSERVER=v1: AFL++ from 4.20 on.
 *
 * Without any of these, or when the status pipe is not open, the target runs
 * once, as if it had not been instrumented.
 *
 * Pipes, in all protocols: the target reads WUG_CONTROL_FD and writes
 * WUG_STATUS_FD. Words are 32 bits in the order of the machine.
 *
 * Handshake, old (T the target, F the fuzzer):
 *   T: WUG_OLD_ENABLED | WUG_OLD_MAPSIZE | (size - 1) << 1
 *      | WUG_OLD_SHARED_INPUT if it reads inputs from shared memory
 *   F: (only if shared memory was offered) WUG_OLD_ENABLED, with that bit
 *      if it accepts
 *   Our targets offer no dictionary here (WUG_OLD_AUTODICT): afl-showmap does
 *   not answer it and would wait for ever. Those of AFL++ may.
 *
 * Handshake, v1 and native:
 *   T: WUG_V1_HELLO
 *   F: ~WUG_V1_HELLO
 *   T: options (WUG_V1_*), then their parameters in the order of the bits:
 *      MAPSIZE: the number of ids; AUTODICT: length, bytes
 *   T: WUG_V1_HELLO
 *   At any step the target may send WUG_V1_ERROR | code instead and exit.
 *   In the native protocol the dictionary is on the board and never sent.
 *
 * Runs, old and v1, as AFL++:
 *   F: a word, 1 if it killed the last child after a timeout, else 0
 *   T: the child's pid
 *   T: the status, as waitpid gives it. A persistent child stops itself
 *      (SIGSTOP) after each run; the fork server continues it for the next.
 *
 * Runs, native:
 *   F: prepares the board (see there), then a word: the run's number, never
 *      0, never the number of the run before
 *   T: 8 bytes in one write: the run's number, the status as waitpid gives it
 *   Exactly one reply counts per run. A child killed while it replies may
 *   leave two with the same number: a fuzzer drops a reply whose number is
 *   not the one it waits for.
 *
 * Who writes to the status pipe (native): in fork mode the fork server alone;
 * children have both pipes closed. In persistent mode the child reads the
 * numbers and writes the replies itself, and the fork server writes only
 * after the child has died, for a run that the child has not finished. So
 * there is one writer at any time. `state` says who holds the pen:
 *   STARTING  the child has not asked for a run yet. If it dies now, the fork
 *             server takes the next number and answers it with that status.
 *   IDLE      the child waits for a number. If it dies now, a new child is
 *             forked in silence; but if the fuzzer asked to stop a run that
 *             has not finished, that run is answered. (A child can die with
 *             a number in its hands, before it could say so: nobody but the
 *             fuzzer knows, whose timeout then leads here.)
 *   RUNNING   if it dies now, the fork server replies with its status.
 *   REPLYING  as RUNNING: this may be the second reply.
 *   CLOSED    the run ended well, but the target had closed the status pipe:
 *             the child exits, and the fork server replies with status 0.
 *   GONE      the control pipe is at its end: the fork server exits.
 * Processes that a persistent child forks are not part of this: if they come
 * back to the loop, it is over for them.
 * A target that puts another file onto the pipes' numbers is not noticed: its
 * run ends by the fuzzer's timeout.
 *
 * Stopping a run (native): `stop_run` is 0 when a run begins. To stop it, the
 * fuzzer stores the run's number there and sends WUG_STOP_SIGNAL to the fork
 * server, which kills its child unless that run has finished, and replies as
 * always. So the fuzzer needs no pid
 * of the child, which it could not know across a pid namespace. Descendants
 * of the child are the fuzzer's to kill.
 *
 * Where the fork server starts (native): before `main`, or with WUG_WANT_LATE
 * right before the first system call that may tell of the input. If a fork would
 * not keep the state of the process there, the target says WUG_V1_ERROR |
 * WUG_V1_ERROR_LATE in place of its first word and exits: the fuzzer starts it
 * again without WUG_WANT_LATE. The counts at the handshake are those of the
 * set-up: those of a run before `main` are their sum with those of a run.
 *
 * Inputs: with WUG_HAS_SHARED_INPUT the target reads them from the `input`
 * region of the board (native) or from the segment __AFL_SHM_FUZZ_ID, a word
 * with the length and then the bytes (AFL++). Otherwise it reads standard
 * input or a file; the fuzzer rewinds what it hands over before each run.
 *
 * Several inputs by one number (native, WUG_HAS_BATCH): with `batch_count` the
 * target takes its inputs from the `batch` region, a word with the length and the
 * bytes of each from a multiple of 8 on, and runs one after the other: a
 * persistent child by itself, a fork server in a child for each. Between two it
 * looks at the counts: where none is of a class that is not in `seen`, it clears
 * them and goes on. It replies, as after any run, when there is something new,
 * when the last is done, when the run is to be stopped, or when a child dies in
 * another way than by an exit code that is not in `crash_codes`; a fork server
 * also when the child's number does not follow that of the child before, since
 * then the run before has started something else. The reply and all that is
 * recorded are those of the input `batch_at`, counted from 0, and `cpu_ns` is that
 * of all; those before it ended well, though the target may have rejected them,
 * and had nothing new. The fuzzer sets `batch_at` to 0 before each run and watches
 * it grow: time is up for a run in which it does not, and for a batch that takes
 * twice the time of a run, wherever it is then. Where children read their
 * inputs from a file or standard input, the fork server writes them there, through
 * the descriptor `input_fd`, and rewinds standard input.
 *
 * Coverage: one byte per id, a count of hits that may wrap from 255 to 0.
 * Ids are dense: the first `map_used` bytes of the map, of which the first
 * WUG_MAP_PAGE-aligned part of each module is in use (see `modules`). The
 * fuzzer clears them before each run. The target clears them once itself: when
 * a persistent child begins its first run, to drop what it did on the way.
 */
#ifndef WUG_H
#define WUG_H
#include <stdint.h>

#define WUG_ABI_VERSION 3u
#define WUG_MAGIC 0x42475557u /* "WUGB" */

#define WUG_ENV_BOARD "__WUG_BOARD"
#define WUG_ENV_FORKSERVER "WUG_FORKSERVER"
#define WUG_ENV_AFL_MAP "__AFL_SHM_ID"
#define WUG_ENV_AFL_INPUT "__AFL_SHM_FUZZ_ID"
/* AFL++ only: how many ids to keep for libraries that are opened later. On a
 * board `map_used` simply grows. */
#define WUG_ENV_RESERVE "WUG_RESERVE"

#define WUG_CONTROL_FD 198
#define WUG_STATUS_FD 199
/* Native: where a ring for pinned pages is, if the fuzzer hands one over. */
#define WUG_RING_FD 195
/* Numbers that are ours until the fork server starts; a copy of standard input
 * is the first. */
#define WUG_FIRST_FD 194
#define WUG_LAST_FD 199
#define WUG_STOP_SIGNAL 23 /* SIGURG: ignored by default, so harmless when late */

/* Old protocol. */
#define WUG_OLD_ENABLED 0x80000001u
#define WUG_OLD_MAPSIZE 0x40000000u
#define WUG_OLD_AUTODICT 0x10000000u
#define WUG_OLD_SHARED_INPUT 0x01000000u
#define WUG_OLD_MAX_MAPSIZE 0x00800000u

/* Protocol v1. */
#define WUG_V1_HELLO 0x41464c01u
#define WUG_V1_MAPSIZE 0x1u
#define WUG_V1_SHARED_INPUT 0x2u
#define WUG_V1_AUTODICT 0x800u
#define WUG_V1_ERROR 0xeffe0000u
#define WUG_V1_ERROR_MAP_SIZE 1u /* the map is too small; `map_used` says what is needed */
#define WUG_V1_ERROR_MAP 8u      /* the map or the board cannot be attached */
#define WUG_V1_ERROR_LATE 32u    /* the server cannot start late; `late` says why */

/* What the fuzzer wants: `wants`. */
#define WUG_WANT_EVENTS 0x1u   /* log comparisons and so on (traced builds) */
#define WUG_WANT_PAIRS 0x2u    /* log pairs of blocks (traced builds) */
#define WUG_WANT_CRASH 0x4u    /* install the crash handler (read at start only) */
#define WUG_WANT_FORK 0x8u     /* a fresh process per run, even if persistent (at start only) */
#define WUG_WANT_CPU_TIME 0x10u /* fill `cpu_ns` also in persistent mode, at the price of a call */
#define WUG_WANT_LATE 0x20u     /* start the fork server where the input begins (at start only) */

/* What the target has: `features`, valid after the handshake. */
#define WUG_HAS_PERSISTENT 0x1u
#define WUG_HAS_SHARED_INPUT 0x2u
#define WUG_HAS_TRACE 0x4u /* at least one module is a traced build */
#define WUG_HAS_DEFERRED 0x8u
#define WUG_HAS_SANITIZER 0x10u /* ASan handles crashes itself: no crash record */
#define WUG_HAS_BATCH 0x20u     /* takes several inputs by one number */
#define WUG_HAS_LATE 0x40u      /* the fork server started where `late` says */

/* Where the fork server started, or why not where it was asked to: `late`. */
#define WUG_LATE_UNSAID 0u      /* before `main`: built by a version that knows no other place */
#define WUG_LATE_SERVES 1u      /* where it was asked to */
#define WUG_LATE_OWN 2u         /* the program itself says where, or loops over inputs */
#define WUG_LATE_SYSTEM 3u      /* the system cannot watch its calls */
/* From here on: the target was ended, and has to be started with a server
 * before `main`. Before its input came, it */
#define WUG_LATE_TOUCHED 4u     /* looked at the input before it came to the symbol */
#define WUG_LATE_PROCESS 5u     /* had another thread or process */
#define WUG_LATE_EXEC 6u        /* became another program */
#define WUG_LATE_ENDED 7u       /* ended */
#define WUG_LATE_TIMER 8u       /* had a timer */
#define WUG_LATE_LOCK 9u        /* locked a file */
#define WUG_LATE_PIPE 10u       /* had a pipe, a socket or a queue of events */
#define WUG_LATE_SHARED 11u     /* had memory that a fork shares or leaves out */
#define WUG_LATE_WRITES 12u     /* changed files */
#define WUG_LATE_LIMIT 13u      /* set bounds that would hold for the server */
#define WUG_LATE_SIGNAL 14u     /* used signals in a way that hides its calls */
#define WUG_LATE_DESCRIPTORS 15u /* had too many files open, or took numbers of ours */

/* What runs do not find anew: `late_notes`. */
#define WUG_NOTE_RANDOM 0x1u
#define WUG_NOTE_PROCESS 0x2u /* the number of the process */
#define WUG_NOTE_TIME 0x4u
#define WUG_NOTE_OUTPUT 0x8u

#define WUG_STATE_STARTING 0u
#define WUG_STATE_IDLE 1u
#define WUG_STATE_RUNNING 2u
#define WUG_STATE_REPLYING 3u
#define WUG_STATE_CLOSED 4u
#define WUG_STATE_GONE 5u

#define WUG_MAP_PAGE 4096u
#define WUG_MAX_FRAMES 64
#define WUG_TEXT_MAX 44
#define WUG_CASES 11
#define WUG_NEAR 3
#define WUG_NEARBY 5
#define WUG_PATH_MAX 224

/* A part of the segment: bytes from its beginning, both multiples of
 * WUG_MAP_PAGE. Capacity 0: absent. */
struct wug_region {
    uint64_t offset;
    uint64_t capacity;
};

/* How a run died, recorded by the handler of fatal signals. Addresses are
 * absolute; `modules` tells which module each belongs to. */
struct wug_crash {
    uint32_t signal; /* 0: nothing recorded. The fuzzer clears it. */
    int32_t code;    /* si_code */
    uint64_t address; /* si_addr, for signals that have one */
    uint32_t frame_count;
    uint32_t depth; /* frames found, also beyond WUG_MAX_FRAMES; bounded */
    uint64_t frames[WUG_MAX_FRAMES]; /* innermost first: pc, then return addresses */
};

/* The beginning of the shared segment. */
struct wug_board {
    /* Set by the fuzzer before the target starts. */
    uint32_t magic;
    uint32_t version;
    uint64_t size;
    struct wug_region map;        /* uint8_t[], a count of hits per id */
    struct wug_region input;      /* the input's bytes */
    struct wug_region events;     /* struct wug_event[], a ring */
    struct wug_region pairs;      /* uint8_t[], 1 where a pair of blocks was seen; capacity a power of two */
    struct wug_region pair_order; /* uint32_t[], the pairs seen, in order of the first time */
    struct wug_region dictionary; /* a length byte, then that many bytes, and so on */
    struct wug_region modules;    /* struct wug_module[] */

    /* Set by the fuzzer before each run. */
    uint32_t wants;
    uint32_t input_length;
    uint32_t stop_run;
    uint32_t input_fd; /* at start only: where inputs can be written, which children read; 0: nowhere */

    /* Set by the target at start; map_used, module_count and dictionary_used
     * can grow at any time. */
    uint32_t features;
    uint32_t map_used;
    uint32_t module_count;
    uint32_t dictionary_used; /* bytes */

    /* Set by the target in each run. */
    uint32_t state;
    uint32_t run;      /* the number read last */
    uint32_t finished; /* the number of the run that ended last */
    int32_t child_pid; /* in the target's own pid namespace */
    uint64_t cpu_ns;   /* user and system time of the run; 0: not measured */

    /* Logs of one run: the fuzzer sets these to 0 before each, and clears the
     * bytes of `pairs` that `pair_order` names. */
    uint32_t event_count; /* all events; the ring holds the last of them */
    uint32_t pair_count;  /* distinct pairs; at most the capacity of pair_order */
    uint32_t max_depth;   /* the deepest stack seen by an event, in frames */
    uint32_t reserved2;
    struct wug_crash crash;

    /* Several inputs by one number: regions set before the target starts, the
     * rest before each run. A fuzzer that knows nothing of them leaves 0. */
    struct wug_region batch;
    struct wug_region seen; /* uint8_t[]: classes of counts that are not new, as bits, for each id */
    uint32_t batch_count;   /* 0: one input, in `input` */
    uint32_t batch_at;      /* set by the target: the input that is run, or was run last */
    uint8_t crash_codes[32]; /* at start only: a bit for each exit code that counts as a crash */

    /* A fork server that starts late (WUG_WANT_LATE). At start only: which file
     * is the input, and the function before which the server starts, counted
     * from the executable's base; 0: where the input begins. */
    uint64_t input_device;
    uint64_t input_inode;
    uint64_t fork_site;
    /* Set by the target before its first word. */
    uint32_t late;       /* WUG_LATE_* */
    uint32_t late_call;  /* the system call at that place */
    uint32_t late_notes; /* WUG_NOTE_* */
    uint32_t late_calls; /* system calls before */
};

/* An instrumented executable or library. Its ids are
 * first_id .. first_id + ids. */
struct wug_module {
    uint64_t base;     /* where its ELF header is; `site` counts from here */
    uint64_t end;      /* the end of its last loaded byte */
    uint32_t first_id; /* a multiple of WUG_MAP_PAGE */
    uint32_t ids;
    uint32_t ready; /* 1 once the fields are set */
    uint32_t reserved;
    char path[WUG_PATH_MAX]; /* empty for the executable */
};

/* Kinds of events. `a`, `b`, `size` and the texts mean: */
#define WUG_EVENT_COMPARE 1u /* a with b, of `size` bytes; WUG_FLAG_CONSTANT: a is a constant */
#define WUG_EVENT_SWITCH 2u  /* a is the value, b the number of cases; `cases` from WUG_CASES * function on */
#define WUG_EVENT_TEXT 3u    /* x, of a bytes, with y, of b bytes */
#define WUG_EVENT_CLASS 4u   /* is a in the class `function`? WUG_FLAG_EQUAL: yes */
#define WUG_EVENT_SET 5u     /* a is searched in x, of b bytes */
#define WUG_EVENT_FOLD 6u    /* a was turned into b (tolower, toupper) */
#define WUG_EVENT_END 7u     /* a read at the end of a file; a: bytes asked for, b: the descriptor */
#define WUG_EVENT_FLOAT 8u   /* a with b, as doubles' bits (gcc only) */

#define WUG_FLAG_CONSTANT 0x1u
#define WUG_FLAG_EQUAL 0x2u

/* Which function compared, searched or read. */
#define WUG_FN_STRCMP 1u
#define WUG_FN_STRNCMP 2u
#define WUG_FN_STRCASECMP 3u
#define WUG_FN_STRNCASECMP 4u
#define WUG_FN_MEMCMP 5u
#define WUG_FN_STRSTR 6u
#define WUG_FN_STRCASESTR 7u
#define WUG_FN_MEMMEM 8u
#define WUG_FN_STRCHR 9u
#define WUG_FN_STRRCHR 10u
#define WUG_FN_MEMCHR 11u
#define WUG_FN_STRSPN 12u
#define WUG_FN_STRCSPN 13u
#define WUG_FN_STRPBRK 14u
#define WUG_FN_READ 20u
#define WUG_FN_FREAD 21u
#define WUG_FN_FGETC 22u
#define WUG_FN_FGETS 23u
#define WUG_FN_FEOF 24u
#define WUG_FN_GETLINE 25u

#define WUG_CLASS_ALNUM 1u
#define WUG_CLASS_ALPHA 2u
#define WUG_CLASS_BLANK 3u
#define WUG_CLASS_CNTRL 4u
#define WUG_CLASS_DIGIT 5u
#define WUG_CLASS_GRAPH 6u
#define WUG_CLASS_LOWER 7u
#define WUG_CLASS_PRINT 8u
#define WUG_CLASS_PUNCT 9u
#define WUG_CLASS_SPACE 10u
#define WUG_CLASS_UPPER 11u
#define WUG_CLASS_XDIGIT 12u

/* One event. `kind` is written last and cleared first: a record whose kind is
 * 0 was never finished. */
struct wug_event {
    uint8_t kind;
    uint8_t size;
    uint8_t flags;
    uint8_t function; /* WUG_FN_*, WUG_CLASS_*, or the part of a switch */
    uint32_t site;    /* the return address, counted from the module's base */
    uint16_t module;  /* index into `modules` */
    uint16_t depth;   /* frames on the stack */
    uint32_t pairs;   /* pair_count at that time */
    uint32_t context; /* a hash of all return addresses on the stack; the same in every process */
    uint16_t near[2]; /* the same of the innermost calls that led to `site`: WUG_NEAR, WUG_NEARBY of them */
    uint64_t a;
    uint64_t b;
    union {
        uint64_t cases[WUG_CASES];
        struct {
            uint8_t x[WUG_TEXT_MAX];
            uint8_t y[WUG_TEXT_MAX];
        } text;
    } of;
};

#endif
