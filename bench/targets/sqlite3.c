/* Runs statements of SQL on an empty database in memory, within limits. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "sqlite3.h"

static int ticks;

static int enough(void *unused) {
    (void)unused;
    return ++ticks > 100;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sqlite3 *base;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    ticks = 0;
#if SQLITE_VERSION_NUMBER >= 3031000
    sqlite3_hard_heap_limit64(64 << 20);
#endif
    if (sqlite3_open_v2(":memory:", &base, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, NULL) == SQLITE_OK) {
        sqlite3_limit(base, SQLITE_LIMIT_LENGTH, 1 << 20);
        sqlite3_limit(base, SQLITE_LIMIT_ATTACHED, 0);
        sqlite3_progress_handler(base, 1000, enough, NULL);
        sqlite3_exec(base, text, NULL, NULL, NULL);
    }
    sqlite3_close(base);
    free(text);
    return 0;
}
