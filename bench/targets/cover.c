/* Runs a harness on inputs, in a build with gcov:

       cover FILE...                  each file is an input
       cover @FILE SEPARATOR FROM     inputs of one file, from number FROM on, each
                                      with the separator behind it

   The number of each input, from 1 on, is printed before it is run, and counts
   are written even if it crashes or takes too long. What the harness prints goes
   nowhere. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __gcov_dump(void);

static int told;

static void end(int signal) {
    __gcov_dump();
    _exit(signal);
}

static void run(int number, const uint8_t *data, size_t size) {
    dprintf(told, "%d\n", number);
    alarm(5);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
}

static int run_all(const char *path, const char *separator, int from) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) return 1;
    size_t size = ftell(file), length = strlen(separator);
    uint8_t *data = malloc(size), *end;
    rewind(file);
    if (!data || fread(data, 1, size, file) != size) return 1;
    fclose(file);
    for (uint8_t *at = data; (end = memmem(at, size - (at - data), separator, length)); at = end + length)
        if (--from <= 0) run(1 - from, at, end - at);
    return 0;
}

int main(int count, char **files) {
    static uint8_t data[1 << 20];
    told = dup(1);
    if (told < 0 || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return 1;
    int signals[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM };
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], end);
    if (count == 4 && files[1][0] == '@') return run_all(files[1] + 1, files[2], atoi(files[3]));
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        if (!file) continue;
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        run(i, data, size);
    }
    return 0;
}
