
#ifndef WUG_NO_MAIN
#include <errno.h>
#include <stdio.h>

/* Reads a number, or ends with a word on use. */
static uint64_t number(char **arguments, int count, int at, uint64_t otherwise, uint64_t most) {
    char *end;
    unsigned long long value;
    if (at >= count) return otherwise;
    errno = 0;
    value = strtoull(arguments[at], &end, 10);
    if (*end || arguments[at][0] < '0' || arguments[at][0] > '9' || errno || value > most) {
        fprintf(stderr, "use: %s [SEED [COUNT [DEPTH [CAP]]]]\n", arguments[0]);
        exit(2);
    }
    return value;
}

int main(int count, char **arguments) {
    uint64_t seed = number(arguments, count, 1, 1, UINT64_MAX);
    uint64_t inputs = number(arguments, count, 2, 1, UINT64_MAX);
    uint32_t depth = (uint32_t)number(arguments, count, 3, 16, UINT32_MAX);
    uint64_t cap = number(arguments, count, 4, 1 << 20, SIZE_MAX / 2), index;
    unsigned char *buffer = malloc((size_t)cap + 1);
    if (!buffer) {
        fprintf(stderr, "error: no memory for inputs of %llu bytes\n", (unsigned long long)cap);
        return 1;
    }
    for (index = 0; index < inputs; index++) {
        size_t length = wug_produce(seed, index, depth, cap, buffer, (size_t)cap + 1);
        if (length == SIZE_MAX) {
            fprintf(stderr, "error: the shortest input has %llu bytes, or memory ran out\n",
                    (unsigned long long)least());
            return 1;
        }
        if (fwrite(buffer, 1, length, stdout) != length || putchar('\n') == EOF) break;
    }
    free(buffer);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "error: cannot write to standard output\n");
        return 1;
    }
    return 0;
}
#endif
