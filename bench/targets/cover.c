/* Runs a harness on files, in a build with gcov: the place of each file is
   printed before it is run, and counts are written even if it crashes or
   takes too long. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __gcov_dump(void);

static void end(int signal) {
    __gcov_dump();
    _exit(signal);
}

int main(int count, char **files) {
    static uint8_t data[1 << 20];
    int signals[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM };
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], end);
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        if (!file) continue;
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        printf("%d\n", i);
        fflush(stdout);
        alarm(5);
        LLVMFuzzerTestOneInput(data, size);
        alarm(0);
    }
    return 0;
}
