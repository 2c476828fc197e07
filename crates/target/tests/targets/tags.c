/* Reads elements, <name>…</name>, in each other and one after the other. Ends
   must have the names of their beginnings. Fails at a depth of 6. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *at, *end;
static volatile int deepest;

static size_t name(const uint8_t **start) {
    *start = at;
    while (at < end && ((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9'))) at++;
    return (size_t)(at - *start);
}

static int element(int depth) {
    const uint8_t *open, *close;
    size_t n;
    at++;
    if (!(n = name(&open)) || at == end || *at++ != '>') return 0;
    for (;;) {
        while (at < end && *at != '<') at++;
        if (end - at < 2) return 0;
        if (at[1] == '/') break;
        if (!element(depth + 1)) return 0;
    }
    at += 2;
    if (name(&close) != n || memcmp(open, close, n) || at == end || *at++ != '>') return 0;
    switch (depth) {
    case 0: deepest = 1; break;
    case 1: deepest = 2; break;
    case 2: deepest = 3; break;
    case 3: deepest = 4; break;
    case 4: deepest = 5; break;
    case 5: abort();
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = data, end = data + size;
    while (at < end && *at != '<') at++;
    if (at < end) element(0);
    return 0;
}
