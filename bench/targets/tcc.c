/* Compiles a program of C in memory; it is neither linked nor run. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "libtcc.h"

static void tell(void *unused, const char *message) { (void)unused, (void)message; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    TCCState *state = tcc_new();
    if (text && state) {
        memcpy(text, data, size);
        text[size] = 0;
        tcc_set_error_func(state, NULL, tell);
        tcc_set_options(state, "-nostdinc -nostdlib");
        tcc_set_output_type(state, TCC_OUTPUT_MEMORY);
        tcc_compile_string(state, text);
    }
    if (state) tcc_delete(state);
    free(text);
    return 0;
}
