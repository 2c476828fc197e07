/* Twenty crashes in three functions of a C program. An input is `!`, a letter
 * from a to t that says which, and a digit. The last two share all their edges. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static volatile int sink, zero;
static int *volatile null_pointer;
static const char *volatile null_text;
static char *volatile block;
static void (*volatile null_function)(void);
static int room;

APART static void numbers(int letter) {
    volatile int n = letter;
    if (n == 'a') assert(n < 'a');
    if (n == 'b') assert(n > 'b');
    if (n == 'c') abort();
    sink++;
    if (n == 'd') abort();
    if (n == 'e') sink = 100 / zero;
    if (n == 'f') *null_pointer = 7;
    if (n == 'g') sink = *null_pointer;
    sink++;
}

APART static void texts(int letter) {
    char copy[16] = {0};
    if (letter == 'h') sink += (int)strlen(null_text);
    sink++;
    if (letter == 'i') sink += 1 + (int)strlen(null_text);
    if (letter == 'j') memcpy(copy, null_text, (size_t)(8 + zero));
    if (letter == 'k') free((char *)block + 1);
    sink += copy[3];
    if (letter == 'l') free((char *)block + 2);
    if (letter == 'm') {
        free(block);
        free(block);
    }
    if (letter == 'n') null_function();
    sink++;
}

APART static int nests(int letter, int digit, int depth) {
    volatile char space[256];
    space[depth & 255] = (char)depth;
    if (letter == 'o') return nests(letter, digit, depth + 1) + space[(depth + 1) & 255];
    if (letter == 'p') return 2 * nests(letter, digit, depth + 1) + space[(depth + 2) & 255];
    if (letter == 'q') ((void (*)(void))(uintptr_t)0x1234567800)();
    if (letter == 'r') __builtin_trap();
    if (letter == 's') {
        /* One block, two crashes. */
        uintptr_t first = (uintptr_t)&room & -(uintptr_t)(digit & 1);
        uintptr_t second = (uintptr_t)&room & -(uintptr_t)(~digit & 1);
        *(volatile int *)first = 1;
        *(volatile int *)second = 2;
    }
    return depth;
}

int main(void) {
    char text[64] = {0};
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    block = malloc(64);
    if (length < 3 || text[0] != '!') return 0;
    numbers(text[1]);
    texts(text[1]);
    sink += nests(text[1], text[2], 0);
    return 0;
}
