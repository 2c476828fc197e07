/* Part of the archive: linked when a program says itself when the fork server
 * starts. afl-fuzz looks for the text in the file. */
#include "internal.h"
HIDDEN const char wug_is_deferred[] = "##SIG_AFL_DEFER_FORKSRV##";
EXPORTED void __wug_manual_init(void) {
    __asm__ volatile("" : : "r"(wug_is_deferred));
    wug_start();
}
