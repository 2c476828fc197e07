/* A persistent harness of AFL++ with inputs in shared memory. The first byte
 * is the sum of the others. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__AFL_FUZZ_INIT();

int main(void) {
    const unsigned char *data = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(20)) {
        size_t length = __AFL_FUZZ_TESTCASE_LEN;
        uint8_t sum = 0;
        if (length == 0)
            exit(2);
        if (data[0] == '!') {
            if (length == 6 && !memcmp(data, "!crash", 6))
                abort();
            if (length == 5 && !memcmp(data, "!hang", 5))
                for (;;)
                    pause();
            if (length == 5 && !memcmp(data, "!exit", 5))
                exit(9);
        }
        for (size_t i = 1; i < length; i++)
            sum += data[i];
        if (sum != data[0])
            exit(1);
    }
    return 0;
}
