/* Crashes in known places: the first byte says how. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;
static char *volatile kept;

__attribute__((noinline)) void write_to_null(int *place) { *place = 7; sink++; }

__attribute__((noinline)) void inner(const char *text) {
    if (text[0] == 's') write_to_null((int *)(uintptr_t)text[1]);
    if (text[0] == 'a') abort();
    if (text[0] == 'j') ((void (*)(void))(uintptr_t)16)();
    if (text[0] == 'm')
        for (;;) {
            char *more = malloc(10 << 20);
            memset(more, 1, 10 << 20);
            kept = more;
        }
    if (text[0] == 'u') {
        char *block = malloc(10);
        kept = block;
        free(block);
        sink += kept[text[1]];
    }
    sink++;
}

__attribute__((noinline)) int deep(int n) {
    volatile char room[1000];
    room[n % 1000] = (char)n;
    return deep(n + 1) + room[(n + 1) % 1000];
}

__attribute__((noinline)) void outer(const char *text) {
    if (text[0] == 'd') sink = deep(0);
    inner(text);
    sink++;
}

int main(void) {
    static char text[4096];
    if (read(0, text, sizeof text - 1) < 0) return 1;
    outer(text);
    return 0;
}
