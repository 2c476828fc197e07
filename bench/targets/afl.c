/* A harness of libFuzzer as a persistent target of AFL++. */
#include <stdint.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__AFL_FUZZ_INIT();

int main(void) {
    __AFL_INIT();
    const unsigned char *data = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100000)) LLVMFuzzerTestOneInput(data, __AFL_FUZZ_TESTCASE_LEN);
    return 0;
}
