/* Looks like a target of AFL++ to whoever reads the file only. */
#include <stdlib.h>
#include <unistd.h>

const char *volatile name = "__AFL_SHM_ID";

int main(int argc, char **argv) {
    if (argc > 1)
        return getenv(name) ? 5 : 6;
    for (;;)
        pause();
}
