/* Part of the archive: the loop of harnesses in the manner of libFuzzer, under
 * libFuzzer's name, for programs with a main of their own. With a fuzzer it
 * loops over shared inputs; without, it runs the files named as arguments, or
 * standard input, once. A harness that returns another number than 0 rejects
 * its input. */
#define _GNU_SOURCE
#include "internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int harness(const uint8_t *data, size_t size);

extern WEAK int LLVMFuzzerInitialize(int *argc, char ***argv);
int __wug_persistent_loop(unsigned count);
void __wug_manual_init(void);
unsigned char *__wug_testcase_buf(void);
unsigned __wug_testcase_len(void);
int __afl_sharedmem_fuzzing = 1;

/* Where libFuzzer's archive is linked too, the linker must find all of it here
 * that a target can ask for: one object of that archive brings the rest. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
HIDDEN size_t (*const wug_mutate)(uint8_t *, size_t, size_t) = LLVMFuzzerMutate;

/* Under a sanitizer a harness gets a block of exactly the input's size, so
 * that reading beyond it is noticed. */
static void run(harness *test, const uint8_t *data, size_t size) {
    if (!__asan_init && !__msan_init) {
        wug_result = test(data, size) != 0;
        return;
    }
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    wug_result = test(copy, size) != 0;
    free(copy);
}

static int run_file(harness *test, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t n = 0, room = 1 << 16, k = 0;
    uint8_t *data = malloc(room);
    if (!file || !data) goto bad;
    while ((k = fread(data + n, 1, room - n, file)) > 0) {
        n += k;
        if (n < room) continue;
        uint8_t *more = realloc(data, room *= 2);
        if (!more) goto bad;
        data = more;
    }
    if (ferror(file)) goto bad;
    fclose(file);
    run(test, data, n);
    free(data);
    return 0;
bad:
    fprintf(stderr, "error: cannot read %s: %s\n", path, strerror(errno));
    if (file) fclose(file);
    free(data);
    return 1;
}

EXPORTED int LLVMFuzzerRunDriver(int *argc, char ***argv, harness *test) {
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(argc, argv);
    __wug_manual_init();
    if (!wug.serving && *argc > 1) {
        int bad = 0;
        for (int i = 1; i < *argc; i++)
            if ((*argv)[i][0] != '-') bad |= run_file(test, (*argv)[i]);
        return bad;
    }
    const uint8_t *data = __wug_testcase_buf();
    while (__wug_persistent_loop(1u << 14)) run(test, data, __wug_testcase_len());
    return wug_result;
}
