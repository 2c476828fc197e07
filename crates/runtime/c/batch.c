/* Several inputs by one number of the fuzzer: a persistent child runs them one
 * after the other, and answers at the first that is of interest. `wug.h` says
 * what that is. Two switches between processes are most of what a short run
 * costs; here many runs share them. */
#include "internal.h"
#include <string.h>

static struct {
    const uint8_t *next, *end;
    uint32_t at, count;
} batch;

/* The class of a count, as a bit. */
static unsigned class_of(unsigned count) {
    return count < 3 ? count : count < 4 ? 4 : count < 8 ? 8 : count < 16 ? 16 : count < 32 ? 32 : count < 128 ? 64 : 128;
}

static int is_new(const uint8_t *counts, const uint8_t *seen, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (counts[i] && (class_of(counts[i]) & ~(unsigned)seen[i])) return 1;
    return 0;
}

/* Whether the run reached what the fuzzer has not seen. Most words are 0. */
static int has_news(void) {
    enum { STEP = 32 };
    size_t used = wug.board->map_used, i = 0;
    if (used > wug.map_capacity) used = wug.map_capacity;
    if (used > wug.seen_capacity) used = wug.seen_capacity;
    for (; i + STEP <= used; i += STEP) {
        uint64_t words[STEP / 8];
        memcpy(words, wug.map + i, STEP);
        if ((words[0] | words[1] | words[2] | words[3]) && is_new(wug.map + i, wug.seen + i, STEP)) return 1;
    }
    return is_new(wug.map + i, wug.seen + i, used - i);
}

/* Puts the next input where the target looks for it. */
static int load(void) {
    uint32_t length;
    if (batch.end - batch.next < 8) return 0;
    memcpy(&length, batch.next, 4);
    if (length > wug.input_capacity || length > (size_t)(batch.end - batch.next) - 4) return 0;
    memcpy(wug.input, batch.next + 4, length);
    *wug.input_length = length;
    size_t all = ((size_t)length + 4 + 7) & ~(size_t)7;
    batch.next += all < (size_t)(batch.end - batch.next) ? all : (size_t)(batch.end - batch.next);
    return 1;
}

/* A run begins: is it one of many? */
HIDDEN void wug_batch_begin(void) {
    batch.at = 0;
    batch.count = wug.batch && wug.seen && wug.input ? wug.board->batch_count : 0;
    if (!batch.count) return;
    batch.next = wug.batch;
    batch.end = wug.batch + wug.batch_capacity;
    if (!load()) batch.count = 0;
}

/* A run is over: whether another follows at once. */
HIDDEN int wug_batch_next(void) {
    if (batch.at + 1 >= batch.count || has_news() || !load()) return 0;
    uint32_t used = wug.board->map_used;
    memset(wug.map, 0, used < wug.map_capacity ? used : wug.map_capacity);
    __atomic_store_n(&wug.board->batch_at, ++batch.at, __ATOMIC_RELEASE);
    return 1;
}
