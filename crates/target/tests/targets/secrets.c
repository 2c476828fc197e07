/* Reads settings, `name = number, number, number;`, and fails at three numbers
   that only comparisons tell. With BINARY it reads bytes: numbers of several widths and
   orders, one after the other. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile int reached;

#ifdef BINARY
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t big;
    uint64_t little;
    if (size < 24) return 0;
    memcpy(&big, data + 1, 4);
    if (__builtin_bswap32(big) != 0xfeedbeef) return 0;
    reached++;
    memcpy(&little, data + 5, 8);
    if (little != 0x1122334455667788) return 0;
    reached++;
    if ((int)(int8_t)data[13] != -77) return 0;
    reached++;
    if (strtol((const char[]){data[14], data[15], data[16], data[17], 0}, NULL, 10) != 4711) return 0;
    abort();
}
#else
static const uint8_t *at, *end;

static void spaces(void) {
    while (at < end && *at == ' ') at++;
}

/* A number, and the character behind it. */
static int number(unsigned *value, char behind) {
    const uint8_t *start = at;
    *value = 0;
    while (at < end && *at >= '0' && *at <= '9') *value = *value * 10 + (*at++ - '0');
    if (at == start) return 0;
    spaces();
    if (at == end || *at++ != behind) return 0;
    spaces();
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = data, end = data + size;
    while (at < end) {
        unsigned a, b, c;
        const uint8_t *name = at;
        while (at < end && *at >= 'a' && *at <= 'z') at++;
        spaces();
        if (at == name || at == end || *at++ != '=') return 0;
        spaces();
        if (!number(&a, ',') || !number(&b, ',') || !number(&c, ';')) return 0;
        if (a != 739184523) continue;
        reached++;
        if (b != 82736451) continue;
        reached++;
        if (c == 605117293) abort();
    }
    return 0;
}
#endif
