/* What traced builds log: comparisons, texts, classes, the end of the input,
 * pairs of blocks. One ring of records on the board; a record is claimed by
 * one atomic addition, so threads and signal handlers need no lock. */
#define _GNU_SOURCE
#include "internal.h"
#include <string.h>

#define MAX_DEPTH 4096
/* Of a switch: parts are numbered by a byte. */
#define MAX_CASES (256 * WUG_CASES)

static struct wug_event *ring;
static uint32_t ring_size;
static uint8_t *pairs;
static uint32_t pair_mask;
static uint32_t *order;
static uint32_t order_size;
static __thread uint32_t previous __attribute__((tls_model("initial-exec")));
/* Set in the first thread only: of others we do not know where the stack
 * ends, and a wrong guess would read from nowhere. */
static __thread uintptr_t stack_end __attribute__((tls_model("initial-exec")));

static void *region(const struct wug_region *r, size_t least) {
    return r->capacity >= least && r->capacity <= wug.board->size && r->offset <= wug.board->size - r->capacity &&
                   r->offset >= WUG_MAP_PAGE
               ? (uint8_t *)wug.board + r->offset
               : 0;
}

HIDDEN void wug_trace_init(void) {
    struct wug_board *board = wug.board;
    if (!board) return;
    ring = region(&board->events, sizeof *ring);
    ring_size = (uint32_t)(board->events.capacity / sizeof *ring);
    pairs = region(&board->pairs, 1);
    pair_mask = (uint32_t)board->pairs.capacity - 1;
    order = region(&board->pair_order, 4);
    order_size = (uint32_t)(board->pair_order.capacity / 4);
    if (!order || (board->pairs.capacity & pair_mask)) pairs = 0;
}

/* Walks the chain of frame pointers, as long as it goes up inside the stack:
 * how many frames there are, and by which calls the program came to `pc`.
 * Code without frame pointers cuts the chain short; it never leads outside.
 *
 * Of a return address only the place in its page counts: it is the same
 * wherever the system loads a module. */
static unsigned look(struct wug_event *event, uintptr_t pc) {
    uintptr_t *frame = __builtin_frame_address(0);
    unsigned n = 0, calls = 0;
    int inside = 0; /* past the hook, in the program */
    uint32_t hash = 0x811c9dc5u;
    while (n < MAX_DEPTH) {
        uintptr_t next = *frame;
        if (inside) {
            hash = (hash ^ (uint32_t)(frame[1] & (WUG_MAP_PAGE - 1))) * 0x9e3779b1u;
            hash ^= hash >> 15;
            calls++;
            if (calls <= WUG_NEAR) event->near[0] = (uint16_t)hash;
            if (calls <= WUG_NEARBY) event->near[1] = (uint16_t)hash;
        } else if (frame[1] == pc) inside = 1;
        if (next <= (uintptr_t)frame || next >= stack_end - sizeof(uintptr_t) || next % sizeof(uintptr_t)) break;
        frame = (uintptr_t *)next;
        n++;
    }
    event->context = hash;
    return n;
}

static struct wug_event *claim(unsigned module, uint32_t site, uintptr_t pc) {
    struct wug_board *board = wug.board;
    uint32_t i = __atomic_fetch_add(&board->event_count, 1, __ATOMIC_RELAXED);
    struct wug_event *event = &ring[i % ring_size];
    __atomic_store_n(&event->kind, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    event->context = event->near[0] = event->near[1] = 0;
    unsigned deep = stack_end ? look(event, pc) : 0;
    if (deep > board->max_depth) board->max_depth = deep;
    event->size = event->flags = event->function = 0;
    event->site = site;
    event->module = (uint16_t)module;
    event->depth = (uint16_t)deep;
    event->pairs = board->pair_count;
    return event;
}

static void done(struct wug_event *event, unsigned kind) {
    __atomic_store_n(&event->kind, (uint8_t)kind, __ATOMIC_RELEASE);
}

static void compare(const struct wug_self *self, uintptr_t site, uint64_t a, uint64_t b, unsigned size,
                    unsigned flags) {
    struct wug_event *event = claim(self->index, (uint32_t)(site - self->base), site);
    event->size = (uint8_t)size;
    event->flags = (uint8_t)(flags | (a == b ? WUG_FLAG_EQUAL : 0));
    event->a = a, event->b = b;
    done(event, WUG_EVENT_COMPARE);
}

static void float_compare(const struct wug_self *self, uintptr_t site, double a, double b) {
    struct wug_event *event = claim(self->index, (uint32_t)(site - self->base), site);
    event->size = 8;
    event->flags = a == b ? WUG_FLAG_EQUAL : 0;
    memcpy(&event->a, &a, 8);
    memcpy(&event->b, &b, 8);
    done(event, WUG_EVENT_FLOAT);
}

static void switch_(const struct wug_self *self, uintptr_t site, uint64_t value, const uint64_t *cases) {
    uint64_t count = cases[0] < MAX_CASES ? cases[0] : MAX_CASES;
    for (uint64_t first = 0; first < count; first += WUG_CASES) {
        struct wug_event *event = claim(self->index, (uint32_t)(site - self->base), site);
        event->size = (uint8_t)(cases[1] / 8);
        event->function = (uint8_t)(first / WUG_CASES);
        event->a = value, event->b = count;
        for (unsigned i = 0; i < WUG_CASES && first + i < count; i++) event->of.cases[i] = cases[2 + first + i];
        done(event, WUG_EVENT_SWITCH);
    }
}

static void note(const struct wug_self *self, uintptr_t site, unsigned kind, unsigned function, uint64_t a, uint64_t b,
                 unsigned flags) {
    struct wug_event *event = claim(self->index, (uint32_t)(site - self->base), site);
    event->size = 1;
    event->function = (uint8_t)function;
    event->flags = (uint8_t)flags;
    event->a = a, event->b = b;
    done(event, kind);
}

static void block(uint32_t id) {
    wug_core.map[id]++;
    if (!pairs) return;
    /* Any mixing will do that tells (a, b) from (b, a). */
    uint32_t pair = ((previous * 0x9e3779b1u) ^ (id * 0x85ebca6bu)) >> 7 & pair_mask;
    previous = id;
    if (pairs[pair]) return;
    pairs[pair] = 1;
    uint32_t n = __atomic_fetch_add(&wug.board->pair_count, 1, __ATOMIC_RELAXED);
    if (n < order_size) order[n] = pair;
    else wug.board->pair_count = order_size;
}

static void copy(uint8_t *to, const void *from, size_t n) {
    for (size_t i = 0; i < n && i < WUG_TEXT_MAX; i++) to[i] = ((const uint8_t *)from)[i];
}

HIDDEN void wug_text(uintptr_t pc, unsigned function, const void *x, size_t nx, const void *y, size_t ny, int equal) {
    uint32_t site;
    int module = wug_module_of(pc, &site);
    struct wug_event *event = claim((unsigned)module, site, pc);
    event->function = (uint8_t)function;
    event->flags = equal ? WUG_FLAG_EQUAL : 0;
    event->a = nx, event->b = ny;
    copy(event->of.text.x, x, nx);
    copy(event->of.text.y, y, ny);
    done(event, WUG_EVENT_TEXT);
}

HIDDEN void wug_set(uintptr_t pc, unsigned function, int character, const void *set, size_t n, int found) {
    uint32_t site;
    int module = wug_module_of(pc, &site);
    struct wug_event *event = claim((unsigned)module, site, pc);
    event->size = 1;
    event->function = (uint8_t)function;
    event->flags = found ? WUG_FLAG_EQUAL : 0;
    event->a = (uint8_t)character, event->b = n;
    copy(event->of.text.x, set, n);
    done(event, WUG_EVENT_SET);
}

HIDDEN int wug_texts; /* are they wanted? */

HIDDEN void wug_trace_begin(void) {
    uint32_t wants = wug.board ? wug.board->wants : 0;
    int events = ring && (wants & WUG_WANT_EVENTS);
    previous = 0;
    stack_end = wug.stack_end;
    wug_core.block = pairs && (wants & WUG_WANT_PAIRS) ? block : 0;
    wug_core.compare = events ? compare : 0;
    wug_core.float_compare = events ? float_compare : 0;
    wug_core.switch_ = events ? switch_ : 0;
    wug_core.note = events ? note : 0;
    wug_texts = events;
}

/* ASan, MSan and TSan have string functions of their own, and tell us. They
 * pass the caller's address, the arguments and the result. */
static size_t until(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i]) i++;
    return i;
}
#define ALL ((size_t)1 << 16)
#define SANITIZED(name) EXPORTED void __sanitizer_weak_hook_##name
#define TEXTS(pc, fn, x, nx, y, ny, equal) \
    if (wug_texts) wug_text((uintptr_t)(pc), fn, x, nx, y, ny, equal)
SANITIZED(memcmp)(void *pc, const void *x, const void *y, size_t n, int r) {
    TEXTS(pc, WUG_FN_MEMCMP, x, n, y, n, r == 0);
}
SANITIZED(strcmp)(void *pc, const char *x, const char *y, int r) {
    TEXTS(pc, WUG_FN_STRCMP, x, until(x, ALL), y, until(y, ALL), r == 0);
}
SANITIZED(strncmp)(void *pc, const char *x, const char *y, size_t n, int r) {
    TEXTS(pc, WUG_FN_STRNCMP, x, until(x, n), y, until(y, n), r == 0);
}
SANITIZED(strcasecmp)(void *pc, const char *x, const char *y, int r) {
    TEXTS(pc, WUG_FN_STRCASECMP, x, until(x, ALL), y, until(y, ALL), r == 0);
}
SANITIZED(strncasecmp)(void *pc, const char *x, const char *y, size_t n, int r) {
    TEXTS(pc, WUG_FN_STRNCASECMP, x, until(x, n), y, until(y, n), r == 0);
}
SANITIZED(strstr)(void *pc, const char *x, const char *y, char *r) {
    TEXTS(pc, WUG_FN_STRSTR, x, until(x, ALL), y, until(y, ALL), r != 0);
}
SANITIZED(strcasestr)(void *pc, const char *x, const char *y, char *r) {
    TEXTS(pc, WUG_FN_STRCASESTR, x, until(x, ALL), y, until(y, ALL), r != 0);
}
SANITIZED(memmem)(void *pc, const void *x, size_t nx, const void *y, size_t ny, void *r) {
    TEXTS(pc, WUG_FN_MEMMEM, x, nx, y, ny, r != 0);
}
