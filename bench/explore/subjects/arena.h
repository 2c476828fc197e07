/* Memory that is put back as it was before each text: what a subject holds need
 * not be given back, and what it sets up is set up once. Not for threads. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(16) char arena[8 << 20];
static size_t arena_used, arena_kept;
static char *arena_copy;

static void *arena_resize(void *old, size_t old_size, size_t size) {
    if (old && size <= old_size) return old;
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded < size || rounded > sizeof arena - arena_used) return 0;
    void *new = arena + arena_used;
    arena_used += rounded;
    if (old) memcpy(new, old, old_size);
    return new;
}

/* What is there now is there before each text. */
static int arena_keep(void) {
    arena_kept = arena_used;
    arena_copy = malloc(arena_kept);
    if (arena_copy) memcpy(arena_copy, arena, arena_kept);
    return arena_copy != 0;
}

static void arena_put_back(void) {
    memcpy(arena, arena_copy, arena_kept);
    arena_used = arena_kept;
}
