/* mjs: exits with 0 exactly when a text was parsed. It is run too, for a
 * moment: built-in names are compared only then. */
#include "mjs_all.c"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static char text[1 << 16];

static void enough(int signal) {
    (void)signal;
    _exit(0);
}

int main(void) {
    size_t n = fread(text, 1, sizeof text - 1, stdin);
    text[n] = 0;
    struct mjs *mjs = mjs_create();
    cs_log_set_level(LL_NONE);
    if (mjs_parse("text", text, mjs) != MJS_OK) _exit(1);
    struct itimerval time = {.it_value = {.tv_usec = 20000}};
    signal(SIGALRM, enough);
    signal(SIGSEGV, enough);
    setitimer(ITIMER_REAL, &time, 0);
    mjs_val_t result;
    mjs_exec(mjs, text, &result);
    _exit(0);
}
