/* Part of the archive: inputs in memory, for harnesses that ask for them.
 * Without a fuzzer, or with one that does not share memory, they are read
 * from standard input. */
#define _GNU_SOURCE
#include "internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Address space, not memory: pages exist once they are used. */
#define LIMIT ((size_t)256 << 20)
static uint8_t *own;

EXPORTED unsigned char *__wug_testcase_buf(void) {
    if (wug.input) return wug.input;
    if (!own) {
        void *p = mmap(0, LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            perror("wug: no room for an input");
            _exit(1);
        }
        own = p;
    }
    return own;
}

EXPORTED unsigned __wug_testcase_len(void) {
    if (wug.input) return *wug.input_length < wug.input_capacity ? *wug.input_length : (unsigned)wug.input_capacity;
    uint8_t *to = __wug_testcase_buf();
    size_t n = 0;
    for (;;) {
        ssize_t k = read(0, to + n, LIMIT - n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        n += (size_t)k;
    }
    if (n == LIMIT) {
        fputs("wug: standard input has 256 MiB or more: not read as one input\n", stderr);
        _exit(1);
    }
    return (unsigned)n;
}
