/* Counts the different documents of XML that are nested at least three deep, by
 * their elements and the order of these, among all that a target is run on.
 * Compiled without instrumentation: it must not lead the fuzzer. The file that
 * DEEP names holds the count and a table of what was seen; it outlives the
 * target's processes. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS (1 << 20)
#define DEEP 3

static uint64_t *seen; /* The count, and a table of hashes. */
static uint64_t shape;
static int depth, deepest;

static void mix(unsigned char byte) { shape = (shape ^ byte) * 0x100000001b3u; }

void deep_begin(void) {
    shape = 0xcbf29ce484222325u;
    depth = deepest = 0;
    if (seen) return;
    const char *path = getenv("DEEP");
    int file = path ? open(path, O_RDWR) : -1;
    size_t size = (SLOTS + 1) * sizeof *seen;
    if (file < 0 || ftruncate(file, size)) return;
    void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) seen = memory;
}

void deep_start(const char *name) {
    depth++;
    if (depth > deepest) deepest = depth;
    for (mix('<'); *name; name++) mix((unsigned char)*name);
}

void deep_end(void) {
    depth--;
    mix('>');
}

void deep_document(int well_formed) {
    if (!seen || !well_formed || deepest < DEEP || !shape) return;
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t *slot = &seen[1 + (shape + i) % SLOTS];
        if (*slot == shape) return;
        if (!*slot) {
            *slot = shape;
            seen[0]++;
            return;
        }
    }
}
