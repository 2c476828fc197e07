/* Runs a harness of libFuzzer on standard input, for builds without a runtime
 * that does: exits with 0 exactly if it accepts it. */
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(void) {
    static uint8_t text[1 << 16];
    size_t size = fread(text, 1, sizeof text, stdin);
    return LLVMFuzzerTestOneInput(text, size) != 0;
}
