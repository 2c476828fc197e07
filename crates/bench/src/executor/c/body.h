/* The two shapes of a target: a program that reads standard input, and with
 * -DLOOP a persistent one that takes inputs from shared memory. The same
 * source for both compilers; `body` is the target. */
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifdef LOOP
__AFL_FUZZ_INIT();
int main(void) {
    const uint8_t *data = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100000)) body(data, (size_t)__AFL_FUZZ_TESTCASE_LEN);
    return 0;
}
#else
int main(void) {
    static uint8_t data[1 << 16];
    ssize_t length = read(0, data, sizeof data);
    return length < 0 ? 1 : body(data, (size_t)length);
}
#endif
