/* A fork server of AFL's old protocol and nothing else: no instrumentation,
 * a program that reads its input and ends. What it costs, no target with a
 * fork server can be cheaper than. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* So that a fuzzer knows it. */
const char *volatile name = "__AFL_SHM_ID";

int main(void) {
    static char data[1 << 16];
    /* Options, with a map of 64 ids. */
    uint32_t word = 0x80000001u | 0x40000000u | 63u << 1;
    if (write(199, &word, 4) == 4)
        for (;;) {
            int status;
            if (read(198, &word, 4) != 4) return 0;
            pid_t pid = fork();
            if (pid < 0) return 1;
            if (pid == 0) {
                close(198);
                close(199);
                break;
            }
            if (write(199, &pid, 4) != 4 || waitpid(pid, &status, 0) != pid || write(199, &status, 4) != 4) return 1;
        }
    return read(0, data, sizeof data) < 0;
}
