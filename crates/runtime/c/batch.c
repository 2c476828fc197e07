/* Several inputs by one number of the fuzzer: a persistent child, or the fork
 * server, runs them one after the other, and answers at the first that is of
 * interest. `wug.h` says what that is. Two switches between processes are most of
 * what a short run costs, and a tenth of a fork; here many runs share them. What
 * is written here for each run is with the server's: children of a fork server do
 * not get that page. */
#define _GNU_SOURCE
#include "internal.h"
#include <string.h>
#include <unistd.h>

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

/* Writes an input to where children read it. */
static int write_input(const uint8_t *bytes, uint32_t length) {
    for (uint32_t done = 0; done < length;) {
        ssize_t k = pwrite(wug.input_fd, bytes + done, length - done, done);
        if (k <= 0) return 0;
        done += (uint32_t)k;
    }
    if (ftruncate(wug.input_fd, length)) return 0;
    lseek(wug.rewind_fd, 0, SEEK_SET);
    return 1;
}

/* Puts the next input where the target looks for it. */
static int load(void) {
    const uint8_t *next = wug_server->batch.next;
    size_t left = (size_t)(wug_server->batch.end - next);
    uint32_t length;
    if (left < 8) return 0;
    memcpy(&length, next, 4);
    if (length > left - 4) return 0;
    if (!wug.input) {
        if (!write_input(next + 4, length)) return 0;
    } else {
        if (length > wug.input_capacity) return 0;
        memcpy(wug.input, next + 4, length);
        *wug.input_length = length;
    }
    size_t all = ((size_t)length + 4 + 7) & ~(size_t)7;
    wug_server->batch.next += all < left ? all : left;
    return 1;
}

/* Whether there can be batches. */
HIDDEN int wug_batch_ready(void) { return wug.batch && wug.seen && (wug.input || wug.input_fd); }

/* A run begins: is it one of many? */
HIDDEN void wug_batch_begin(void) {
    uint32_t count = wug.board->batch_count && wug_batch_ready() ? wug.board->batch_count : 0;
    wug_server->batch.at = 0;
    wug_server->batch.next = wug.batch;
    wug_server->batch.end = wug.batch + wug.batch_capacity;
    wug_server->batch.count = count && load() ? count : 0;
}

/* A run is over: whether another follows at once. */
HIDDEN int wug_batch_next(void) {
    if (wug_server->batch.at + 1 >= wug_server->batch.count || has_news() || !load()) return 0;
    uint32_t used = wug.board->map_used;
    memset(wug.map, 0, used < wug.map_capacity ? used : wug.map_capacity);
    __atomic_store_n(&wug.board->batch_at, ++wug_server->batch.at, __ATOMIC_RELEASE);
    return 1;
}
