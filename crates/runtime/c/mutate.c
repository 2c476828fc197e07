/* Part of the archive: what libFuzzer offers to mutators of a target. We never
 * call `LLVMFuzzerCustomMutator` or `LLVMFuzzerCustomCrossOver`: a campaign
 * makes its inputs itself. But a target that has them must link, and a test of
 * its own that calls them must get a changed input. Weak: a program that
 * defines it keeps its own. */
#include "internal.h"

/* xorshift64*; the same sequence in every process. */
static uint64_t draw(void) {
    static uint64_t state = 0x9e3779b97f4a7c15u;
    uint64_t x = __atomic_load_n(&state, __ATOMIC_RELAXED);
    x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
    __atomic_store_n(&state, x, __ATOMIC_RELAXED);
    return x * 0x2545f4914f6cdd1du >> 32;
}

static size_t below(size_t limit) { return (size_t)draw() % limit; }

/* Regions may overlap. */
static void move(uint8_t *to, const uint8_t *from, size_t n) {
    if (to < from)
        for (size_t i = 0; i < n; i++) to[i] = from[i];
    else
        for (size_t i = n; i > 0; i--) to[i - 1] = from[i - 1];
}

/* Changes, inserts, deletes or repeats some bytes; how many there are then.
 * Never more than max_size, and none only if that is 0. */
EXPORTED WEAK size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
    if (max_size == 0) return 0;
    if (size > max_size) size = max_size;
    size_t at = size ? below(size) : 0, n;
    switch (size ? draw() % 5 : 2) {
    case 0: data[at] ^= (uint8_t)(1u << draw() % 8); return size;
    case 1: data[at] = (uint8_t)(data[at] + 1 + draw() % 255); return size;
    case 2: /* a byte more */
        if (size == max_size) break;
        move(data + at + 1, data + at, size - at);
        data[at] = (uint8_t)draw();
        return size + 1;
    case 3: /* some bytes less */
        n = 1 + below(size - at);
        if (n == size) break;
        move(data + at, data + at + n, size - at - n);
        return size - n;
    case 4: /* a part once more */
        n = 1 + below(size - at);
        if (n > max_size - size) break;
        move(data + at + n, data + at, size - at);
        return size + n;
    }
    data[at] = (uint8_t)(data[at] + 1 + draw() % 255);
    return size;
}
