/* mjs: accepts a text exactly when it parses it. It is run too, for a moment:
 * built-in names are compared only then. Whatever becomes of that, the text was
 * parsed. */
#include "arena.h"
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

/* Its memory; before each block lies its size. */
static void *sized(void *old, size_t size) {
    size_t *block = old ? (size_t *)old - 2 : 0, *new;
    if (size > sizeof arena) return 0;
    new = arena_resize(block, block ? *block + 16 : 0, size + 16);
    if (!new) return 0;
    if (new != block) *new = size;
    return new + 2;
}

static void *cleared(size_t count, size_t size) {
    void *new = size && count > sizeof arena / size ? 0 : sized(0, count * size);
    return new ? memset(new, 0, count * size) : 0;
}

static char *copied(const char *text) {
    char *new = sized(0, strlen(text) + 1);
    return new ? strcpy(new, text) : 0;
}

#define malloc(size) sized(0, size)
#define realloc(old, size) sized(old, size)
#define calloc(count, size) cleared(count, size)
#define strdup(text) copied(text)
#define free(block) ((void)(block))
#include "mjs_all.c"

static sigjmp_buf before;

static void enough(int signal) {
    (void)signal;
    siglongjmp(before, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct mjs *mjs;
    static char text[1 << 16], stack[1 << 16];
    if (!mjs) {
        mjs = mjs_create();
        cs_log_set_level(LL_NONE);
        stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
        struct sigaction action = {.sa_handler = enough, .sa_flags = SA_ONSTACK | SA_NODEFER};
        sigaltstack(&other, 0);
        sigaction(SIGALRM, &action, 0);
        if (!mjs || !arena_keep()) abort();
    }
    arena_put_back();
    size = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = 0;
    if (mjs_parse("text", text, mjs) != MJS_OK) return -1;
    struct itimerval time = {.it_value = {.tv_usec = 20000}}, none = {0};
    struct sigaction fault = {.sa_handler = enough, .sa_flags = SA_ONSTACK | SA_NODEFER}, old;
    sigaction(SIGSEGV, &fault, &old);
    if (!sigsetjmp(before, 1)) {
        mjs_val_t result;
        setitimer(ITIMER_REAL, &time, 0);
        mjs_exec(mjs, text, &result);
    }
    setitimer(ITIMER_REAL, &none, 0);
    sigaction(SIGSEGV, &old, 0);
    return 0;
}
