/* Words of the program, for the fuzzer to use: texts in its read-only data.
 * Read once, before the handshake. What a program compares with numbers only
 * a traced build can tell. */
#define _GNU_SOURCE
#include "internal.h"
#include <elf.h>
#include <link.h>
#include <string.h>

#define SHORTEST 2
#define LONGEST 32
#define MOST 1024 /* words */
#define SLOTS 4096

struct words {
    uint8_t *to;
    size_t used, room;
    unsigned count;
    uint32_t seen[SLOTS]; /* where a word begins, plus 1 */
};

/* Texts of the runtime have a section of their own, in executables. */
extern HIDDEN const uint8_t __start_wug_texts[], __stop_wug_texts[];

static void add(struct words *words, const uint8_t *word, size_t n) {
    uint32_t hash = 2166136261u;
    if (words->count == MOST || words->used + n + 1 > words->room) return;
    for (size_t i = 0; i < n; i++) hash = (hash ^ word[i]) * 16777619u;
    for (unsigned i = hash % SLOTS;; i = (i + 1) % SLOTS) {
        if (!words->seen[i]) {
            words->seen[i] = (uint32_t)words->used + 1;
            break;
        }
        const uint8_t *old = words->to + words->seen[i] - 1;
        if (old[0] == n && !memcmp(old + 1, word, n)) return;
    }
    words->to[words->used++] = (uint8_t)n;
    memcpy(words->to + words->used, word, n);
    words->used += n;
    words->count++;
}

/* Printable texts that a 0 ends and that begin after one. */
static void scan(struct words *words, const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        const uint8_t *stop = p;
        while (stop < end && *stop >= 0x20 && *stop < 0x7f) stop++;
        size_t n = (size_t)(stop - p);
        if (stop < end && *stop == 0 && n >= SHORTEST && n <= LONGEST) add(words, p, n);
        while (stop < end && *stop) stop++;
        p = stop + 1;
    }
}

static int module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    uint32_t site;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || p->p_flags != PF_R || p->p_offset == 0) continue;
        if (wug_module_of(start, &site) == 0xffff) continue;
        const uint8_t *from = (const uint8_t *)start, *end = from + p->p_filesz;
        if (__start_wug_texts >= from && __stop_wug_texts <= end) {
            scan(data, from, __start_wug_texts);
            from = __stop_wug_texts;
        }
        scan(data, from, end);
    }
    return 0;
}

HIDDEN size_t wug_dictionary(uint8_t *to, size_t room) {
    struct words words = {.to = to, .room = room};
    dl_iterate_phdr(module, &words);
    return words.used;
}
