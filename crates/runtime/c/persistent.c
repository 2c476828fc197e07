/* Part of the archive: linked when a program loops over inputs. afl-fuzz
 * looks for the text in the file. */
#include "internal.h"
HIDDEN const char wug_is_persistent[] = "##SIG_AFL_PERSISTENT##";
EXPORTED int __wug_persistent_loop(unsigned count) {
    __asm__ volatile("" : : "r"(wug_is_persistent));
    return wug_loop(count);
}
