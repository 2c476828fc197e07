/* Runs a harness on one file; what is wrong, assertions and sanitizers tell. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int count, char **files) {
    static uint8_t data[1 << 20];
    FILE *file = count > 1 ? fopen(files[1], "rb") : NULL;
    if (!file) return 2;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    alarm(20);
    LLVMFuzzerTestOneInput(data, size);
    return 0;
}
