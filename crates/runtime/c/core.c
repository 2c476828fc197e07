/* The core: finds the fuzzer's memory, gives ids to modules, and maps their
 * counters onto the shared map.
 *
 * Memory of the fuzzer is mapped once. A module's counters are then replaced
 * by a second mapping of a part of the same pages (mremap with an old size of
 * 0 duplicates a shared mapping), so that counting costs one instruction and
 * a killed process loses nothing. */
#define _GNU_SOURCE
#include "internal.h"
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

HIDDEN struct wug_state wug;
static uint8_t nowhere[1];
HIDDEN struct wug_core wug_core = {.map = nowhere};

static size_t pages(size_t n) { return (n + WUG_MAP_PAGE - 1) & ~(size_t)(WUG_MAP_PAGE - 1); }

static int number(const char *name, long *value) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return 0;
    *value = strtol(text, &end, 10);
    return *end == 0;
}

/* A region of the board, or null when the fuzzer gave none or nonsense. */
static void *region(const struct wug_region *r, size_t least) {
    const struct wug_board *board = wug.board;
    if (r->capacity < least || r->capacity == 0 || r->offset % WUG_MAP_PAGE || r->capacity % WUG_MAP_PAGE) return 0;
    if (r->offset < WUG_MAP_PAGE || r->offset > board->size || r->capacity > board->size - r->offset) return 0;
    return (uint8_t *)board + r->offset;
}

static void attach_board(long fd) {
    struct wug_board *board;
    struct stat about;
    if (fstat((int)fd, &about) || about.st_size < (off_t)WUG_MAP_PAGE) return;
    board = mmap(0, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (board == MAP_FAILED) return;
    if (board->magic != WUG_MAGIC || board->version != WUG_ABI_VERSION || board->size > (uint64_t)about.st_size) {
        munmap(board, (size_t)about.st_size);
        return;
    }
    close((int)fd);
    wug.board = board;
    wug.map = region(&board->map, WUG_MAP_PAGE);
    wug.map_capacity = wug.map ? board->map.capacity : 0;
    wug.input = region(&board->input, 1);
    wug.input_capacity = board->input.capacity;
    wug.input_length = &board->input_length;
    wug.batch = region(&board->batch, WUG_MAP_PAGE);
    wug.batch_capacity = board->batch.capacity;
    wug.seen = region(&board->seen, WUG_MAP_PAGE);
    wug.seen_capacity = board->seen.capacity;
    wug.modules = region(&board->modules, sizeof(struct wug_module));
    wug.module_capacity = (uint32_t)(board->modules.capacity / sizeof(struct wug_module));
    wug.module_count = &board->module_count;
    wug.dictionary = region(&board->dictionary, 1);
    wug.dictionary_room = board->dictionary.capacity;
}

static void attach_afl(long id) {
    struct shmid_ds about;
    void *map = shmat((int)id, 0, 0);
    if (map == (void *)-1 || shmctl((int)id, IPC_STAT, &about)) {
        wug.attach_failed = 1;
        return;
    }
    wug.map = map;
    wug.map_capacity = pages(about.shm_segsz);
    if (SHARES_INPUT && number(WUG_ENV_AFL_INPUT, &id)) {
        void *input = shmat((int)id, 0, 0);
        if (input != (void *)-1 && !shmctl((int)id, IPC_STAT, &about) && about.shm_segsz > 4) {
            wug.input_length = input;
            wug.input = (uint8_t *)input + 4;
            wug.input_capacity = about.shm_segsz - 4;
        }
    }
}

HIDDEN void wug_attach(void) {
    static int done;
    long n;
    if (done) return;
    done = 1;
    wug.stack_end = (uintptr_t)environ; /* above every frame of the first thread */
    if (number(WUG_ENV_BOARD, &n)) attach_board(n);
    else if (number(WUG_ENV_AFL_MAP, &n)) attach_afl(n);
    if (!wug.map) return;
    wug_core.map = wug.map;
    if (!wug.modules) {
        /* Shared by all children: a library opened by one of them keeps its
         * ids in the next. */
        size_t size = 64 * sizeof(struct wug_module) + 64;
        uint8_t *table = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (table == MAP_FAILED) {
            wug.map = 0;
            return;
        }
        wug.module_count = (uint32_t *)table;
        wug.modules = (struct wug_module *)(table + 64);
        wug.module_capacity = 64;
    }
    wug.map_limit = (uint32_t)(wug.map_capacity < UINT32_MAX ? wug.map_capacity : UINT32_MAX);
    wug_trace_init();
    wug_crash_init();
}

struct search {
    uintptr_t base;
    struct wug_module *found;
};

/* Fills in where a module ends and what it is called. */
static int describe(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    uintptr_t low = UINTPTR_MAX, high = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (start < low) low = start;
        if (end > high) high = end;
    }
    if (search->base < low || search->base >= high) return 0;
    search->found->end = high;
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    size_t n = strlen(name), skip = n >= WUG_PATH_MAX ? n - (WUG_PATH_MAX - 1) : 0;
    memcpy(search->found->path, name + skip, n - skip + 1);
    return 1;
}

/* The module's entry in the shared table: the one that an earlier process
 * made for the same file, or a new one. Null when the table is full. */
static struct wug_module *entry_of(struct wug_self *self, uint32_t ids) {
    struct wug_module mine = {.base = self->base, .end = self->base, .ids = ids};
    struct search search = {self->base, &mine};
    dl_iterate_phdr(describe, &search);
    for (uint32_t i = 0;;) {
        uint32_t count = __atomic_load_n(wug.module_count, __ATOMIC_ACQUIRE);
        if (count > wug.module_capacity) return 0;
        for (; i < count; i++) {
            struct wug_module *old = &wug.modules[i];
            /* Another process is between the two stores below: rare, short. */
            for (int spin = 0; !__atomic_load_n(&old->ready, __ATOMIC_ACQUIRE) && spin < 1000; spin++) usleep(10);
            if (old->ids == ids && !strncmp(old->path, mine.path, WUG_PATH_MAX)) {
                old->base = mine.base, old->end = mine.end;
                self->index = i;
                return old;
            }
        }
        if (i >= wug.module_capacity) return 0;
        if (!__atomic_compare_exchange_n(wug.module_count, &count, i + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        struct wug_module *new = &wug.modules[i];
        const struct wug_module *last = i ? &wug.modules[i - 1] : 0;
        mine.first_id = last ? (uint32_t)(last->first_id + pages(last->ids)) : 0;
        memcpy(new, &mine, offsetof(struct wug_module, ready));
        memcpy(new->path, mine.path, WUG_PATH_MAX);
        __atomic_store_n(&new->ready, 1, __ATOMIC_RELEASE);
        self->index = i;
        return new;
    }
}

EXPORTED const struct wug_core *__wug_register(struct wug_self *self) {
    wug_attach();
    size_t ids = self->counter_count + self->guard_count;
    if (!wug.map || !ids || ids > UINT32_MAX / 2) return &wug_core;
    struct wug_module *module = entry_of(self, (uint32_t)ids);
    if (!module) return &wug_core;
    size_t end = (size_t)module->first_id + ids;
    if (!wug.serving) {
        if (end > wug.map_used) wug.map_used = (uint32_t)end;
        if (wug.board) wug.board->map_used = wug.map_used;
        if (self->traced && wug.board) wug.board->features |= WUG_HAS_TRACE;
    }
    if (module->first_id + pages(ids) > wug.map_limit) return &wug_core;
    if (wug.serving && wug.board && end > wug.board->map_used) wug.board->map_used = (uint32_t)end;
    if (self->counter_count) {
        void *at = mremap(wug.map + module->first_id, 0, pages(self->counter_count), MREMAP_MAYMOVE | MREMAP_FIXED,
                          self->counters);
        if (at == MAP_FAILED) wug.attach_failed = 1;
    }
    for (size_t i = 0; i < self->guard_count; i++)
        self->guards[i] = (uint32_t)(module->first_id + self->counter_count + i);
    return &wug_core;
}

HIDDEN int wug_module_of(uintptr_t pc, uint32_t *site) {
    uint32_t count = wug.modules ? *wug.module_count : 0;
    for (uint32_t i = 0; i < count && i < wug.module_capacity; i++)
        if (pc >= wug.modules[i].base && pc < wug.modules[i].end) {
            *site = (uint32_t)(pc - wug.modules[i].base);
            return (int)i;
        }
    *site = (uint32_t)pc;
    return 0xffff;
}
