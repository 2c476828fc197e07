/* What the parts of the late fork server share: see late.c. Only where the
 * system can hand a program its own system calls. */
#ifndef WUG_LATE_H
#define WUG_LATE_H
#include "internal.h"

#if defined __x86_64__ && !defined __ILP32__ && defined __linux__
#define WUG_CAN_BE_LATE 1

/* Newer than the names of some libraries. */
#include <sys/syscall.h>
#ifndef SYS_statx
#define SYS_statx 332
#endif
#ifndef SYS_rseq
#define SYS_rseq 334
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/* A system call that is carried out, whatever is watched. */
HIDDEN long wug_gate(long number, long a, long b, long c, long d, long e, long f);
#define GATE(number, a, b, c, d, e, f) \
    wug_gate(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define GATE2(number, a, b) GATE(number, a, b, 0, 0, 0, 0)
#define GATE4(number, a, b, c, d) GATE(number, a, b, c, d, 0, 0)

/* What is known of a system call before the point. */
enum deed {
    HARMLESS,  /* children find its effect, or it has none */
    POINT,     /* it may tell of the input: the fork server starts before it */
    OWN_WAY,   /* carried out in a way of its own */
    REFUSED,   /* its effect does not outlive a fork, or is not made again */
};
struct verdict {
    enum deed deed;
    uint32_t why; /* WUG_LATE_*, where it is refused */
};
struct wug_call {
    long number;
    long a[6];
};
/* See deeds.c. */
HIDDEN struct verdict wug_judge(const struct wug_call *call);
HIDDEN uint32_t wug_judge_after(const struct wug_call *call, long result);
extern HIDDEN uint32_t wug_notes; /* WUG_NOTE_* */
/* See place.c: WUG_LATE_*, or 0 if a fork is safe here. */
HIDDEN void wug_place_begin(void);
HIDDEN uint32_t wug_place_judge(void);
/* See clocks.c: makes system calls of what the system answers without. */
HIDDEN void wug_clocks_watch(void);
HIDDEN void wug_clocks_release(void);
#endif
#endif
