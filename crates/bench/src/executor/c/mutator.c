/* For afl-fuzz: in place of mutations, the inputs of a file, in turn. Each
 * has its length before it, as a word. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inputs {
    uint8_t *bytes;
    size_t length, next;
};

void *afl_custom_init(void *afl, unsigned seed) {
    struct inputs *inputs = calloc(1, sizeof *inputs);
    FILE *file = fopen(getenv("WUG_BENCH_INPUTS"), "rb");
    (void)afl, (void)seed;
    if (!inputs || !file || fseek(file, 0, SEEK_END)) abort();
    inputs->length = (size_t)ftell(file);
    inputs->bytes = malloc(inputs->length);
    rewind(file);
    if (!inputs->bytes || fread(inputs->bytes, 1, inputs->length, file) != inputs->length) abort();
    fclose(file);
    return inputs;
}

void afl_custom_deinit(void *data) { free(data); }

/* Many at a time, so that the choice of a queue entry costs nothing. */
uint32_t afl_custom_fuzz_count(void *data, const uint8_t *buffer, size_t length) {
    (void)data, (void)buffer, (void)length;
    return 1000000;
}

size_t afl_custom_fuzz(void *data, uint8_t *buffer, size_t length, uint8_t **out, uint8_t *other,
                       size_t other_length, size_t max) {
    struct inputs *inputs = data;
    uint32_t size;
    (void)buffer, (void)length, (void)other, (void)other_length, (void)max;
    memcpy(&size, inputs->bytes + inputs->next, 4);
    *out = inputs->bytes + inputs->next + 4;
    inputs->next += 4 + size;
    if (inputs->next >= inputs->length) inputs->next = 0;
    return size;
}
