/* Reads nested lists of words. Fails where a list of at least four items lies
   DEEP deep and begins with "abc". With HANGS it takes for ever on the word
   "cacbcacbcacbc"; with OVERFLOW a list of three items two deep makes it write
   beside its memory, where nothing is; with MAIN it reads standard input. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEEP
#define DEEP 5
#endif

static const uint8_t *at, *end;
static volatile int rare;

static int list(int depth) {
    int items = 0, marked = 0;
    if (at == end || *at != '(' || depth > 100) return 0;
    at++;
    for (;;) {
        while (at < end && *at == ' ') at++;
        if (at == end) return 0;
        if (*at == ')') break;
        if (*at == '(') {
            if (!list(depth + 1)) return 0;
        } else {
            const uint8_t *word = at;
            while (at < end && *at >= 'a' && *at <= 'c') at++;
            if (at == word) return 0;
            if (items == 0 && at - word == 3 && memcmp(word, "abc", 3) == 0) marked = 1;
#ifdef HANGS
            if (at - word == 13 && memcmp(word, "cacbcacbcacbc", 13) == 0)
                for (volatile int busy = 1; busy;) ;
#endif
        }
        items++;
    }
    at++;
#ifdef OVERFLOW
    if (items == 3 && depth >= 2) {
        volatile char *memory = malloc(17);
        if (memory) memory[17 + (items == 4)] = 1;
        free((void *)memory);
    }
#endif
    if (marked && items >= 4 && depth >= DEEP) abort();
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 4321 && memcmp(data + 4000, "a a a a a a a a a a ", 20) == 0) rare++;
    at = data;
    end = data + size;
    return list(0) && at == end ? 0 : 0;
}

#ifdef MAIN
#include <unistd.h>

int main(void) {
    static uint8_t data[1 << 16];
    size_t size = 0;
    ssize_t got;
    while (size < sizeof data && (got = read(0, data + size, sizeof data - size)) > 0) size += (size_t)got;
    return LLVMFuzzerTestOneInput(data, size);
}
#endif
