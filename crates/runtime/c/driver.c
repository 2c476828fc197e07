/* Part of the archive: a main for harnesses in the manner of libFuzzer,
 * linked when a program has none. */
#include "internal.h"

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*harness)(const uint8_t *data, size_t size));

int main(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }
