#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Writes input `index` of `seed` to `buffer`, with free choices down to `depth` and at most `cap`
   bytes. Gives its length. If that is more than `capacity`, only the first
   `capacity` bytes were written; SIZE_MAX means that `cap` is below the
   shortest input or that memory ran out. One byte more than `cap` is the
   capacity with which it is fastest. Threads may call it at the same time. */
size_t wug_produce(uint64_t seed, uint64_t index, uint32_t depth, uint64_t cap,
                   unsigned char *buffer, size_t capacity);

#define ANY __attribute__((unused))
#define MAYBE ANY static
#define STEP 0xA0761D6478BD642FULL
#define FOLD 0xE7037ED1A0B428DBULL

static inline uint64_t mix(uint64_t value) {
    uint64_t z = value + 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/* 32 random bits of a state that was moved by STEP. */
static inline uint32_t bits(uint64_t rng) {
    unsigned __int128 product = (unsigned __int128)rng * (rng ^ FOLD);
    return (uint32_t)(((uint64_t)(product >> 64) ^ (uint64_t)product) >> 32);
}

/* A number below `n`. */
MAYBE inline uint32_t even(uint32_t random, uint32_t n) {
    return (uint32_t)(((uint64_t)random * n) >> 32);
}

/* One of uneven choices: where the upper bits begin, and what is beyond. */
MAYBE inline uint32_t guided(const uint32_t *guide, uint32_t entry, const uint32_t *last, int rounds,
                             uint32_t random) {
    uint32_t at = guide[entry];
    while (rounds--) at += random > last[at];
    return at;
}

/* How many of `n` sorted thresholds are not above `random`. */
MAYBE inline uint32_t find(const uint32_t *thresholds, uint32_t n, uint32_t random) {
    uint32_t at = 0;
    while (n > 0) {
        uint32_t half = (n + 1) / 2;
        at += thresholds[at + half - 1] <= random ? half : 0;
        n -= half;
    }
    return at;
}

/* A repetition's count beyond its least: uniform among few, else geometric. */
MAYBE inline uint32_t more(uint32_t random, uint32_t choices) {
    uint32_t count = 0;
    if (choices <= UNIFORM) return even(random, choices);
    while (count < choices - 1 && geometric[count] <= random) count++;
    return count;
}

/* Writes a member of a class, at most four bytes. */
MAYBE inline unsigned char *member(uint32_t class, uint32_t index, unsigned char *out) {
    uint32_t at = class_first[class], value;
    while (at + 1 < class_first[class + 1] && index > range_high[at] - range_low[at]) {
        index -= range_high[at] - range_low[at] + 1;
        at++;
    }
    value = range_low[at] + index;
    if (value < 0x80 || class_is_bytes[class]) {
        *out++ = (unsigned char)value;
    } else if (value < 0x800) {
        *out++ = (unsigned char)(0xC0 | value >> 6);
        *out++ = (unsigned char)(0x80 | (value & 0x3F));
    } else if (value < 0x10000) {
        *out++ = (unsigned char)(0xE0 | value >> 12);
        *out++ = (unsigned char)(0x80 | (value >> 6 & 0x3F));
        *out++ = (unsigned char)(0x80 | (value & 0x3F));
    } else {
        *out++ = (unsigned char)(0xF0 | value >> 18);
        *out++ = (unsigned char)(0x80 | (value >> 12 & 0x3F));
        *out++ = (unsigned char)(0x80 | (value >> 6 & 0x3F));
        *out++ = (unsigned char)(0x80 | (value & 0x3F));
    }
    return out;
}
