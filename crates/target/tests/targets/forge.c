/* A target that speaks the fork-server protocols by itself and lies: the first
 * argument says how. Without instrumentation it is the server; built with
 * `wug cc` (-DINSIDE) it reads inputs and writes on the board behind the
 * runtime's back. With -DAFL it looks like a target of AFL++.
 *
 * Loops are without end only where the fuzzer has to end them. */
#define _GNU_SOURCE
#include "../../../runtime/include/wug.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef INSIDE
#ifdef AFL
const char *volatile marker = "__AFL_SHM_ID";
enum { AFL_TARGET = 1 };
#else
const char *volatile marker = "__WUG_BOARD";
enum { AFL_TARGET = 0 };
#endif
#endif

static struct wug_board *board;
static size_t board_size;
static const char *mode = "";
static uint64_t state = 88172645463325252u;

static uint64_t draw(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static int is(const char *name) { return !strcmp(mode, name); }

/* Everything that only the fuzzer's care keeps from doing harm. */
static void shrink(int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int i = 0; i < 2; i++) {
        int other = i ? open(path, O_RDWR) : fd;
        ftruncate(other, 0);
        ftruncate(other, 4096);
        ftruncate(other, (off_t)1 << 44);
        fallocate(other, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)board_size);
        fcntl(other, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK);
        fchmod(other, 0);
    }
    truncate(path, 0);
}

/* Words that programs add to, multiply or index with. */
static uint64_t word(void) {
    static const uint64_t words[] = {0, 1, 2, 3000000000u, INT_MAX, UINT_MAX, INT64_MAX, UINT64_MAX, 4095, 4096};
    uint64_t n = draw();
    return n % 3 ? words[n / 3 % 10] : draw();
}

static void scribble(void) {
    if (is("ones")) {
        memset(board, 0xff, board_size);
    } else if (is("random")) {
        for (size_t i = 0; i + 8 <= board_size && i < (size_t)1 << 22; i += 8) ((uint64_t *)board)[i / 8] = word();
    } else if (is("head")) {
        for (size_t i = 0; i < sizeof *board / 8; i++) ((uint64_t *)board)[i] = word();
    } else if (is("figures")) {
        board->map_used = (uint32_t)word();
        board->child_pid = (int32_t)word();
        board->cpu_ns = word();
        board->event_count = (uint32_t)word();
        board->pair_count = (uint32_t)word();
        board->max_depth = (uint32_t)word();
        board->dictionary_used = (uint32_t)word();
        board->module_count = (uint32_t)word();
        board->batch_at = (uint32_t)word();
        board->features = (uint32_t)word();
    } else if (is("truncate")) {
        for (int fd = 3; fd < 256; fd++)
            if (fd < 198 || fd > 199) shrink(fd);
    }
}

#ifdef INSIDE
/* Where the runtime has mapped it. */
static void find_board(void) {
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        char rights[8];
        if (!strstr(line, "wug-board") || sscanf(line, "%lx-%lx %7s %lx", &start, &end, rights, &offset) != 4) continue;
        if (offset == 0 && !board) board = (struct wug_board *)start, board_size = end - start;
    }
    if (maps) fclose(maps);
}

int main(int argc, char **argv) {
    char input[64];
    ssize_t n = read(0, input, sizeof input);
    mode = argc > 1 ? argv[1] : "";
    find_board();
    if (board) state += (uint64_t)getpid(), scribble();
    return n > 1 && input[0] == input[1];
}
#else

static void tell(uint32_t value) {
    if (write(WUG_STATUS_FD, &value, 4) != 4) _exit(0);
}

static uint32_t hear(void) {
    uint32_t value = 0;
    if (read(WUG_CONTROL_FD, &value, 4) != 4) _exit(0);
    return value;
}

static void reply(uint32_t number, uint32_t status) {
    uint32_t both[2] = {number, status};
    if (write(WUG_STATUS_FD, both, 8) != 8) _exit(0);
}

/* Runs, ended by the fuzzer. */
static void serve(int afl) {
    for (uint32_t runs = 0;; runs++) {
        uint32_t number = hear();
        if (is("deaf"))
            for (;;) pause();
        if (is("progress"))
            for (;;) board->batch_at++, usleep(500);
        if (is("progress-down"))
            for (uint32_t at = UINT_MAX;; at--) board->batch_at = at, usleep(500);
        if (is("progress-random"))
            for (;;) board->batch_at = (uint32_t)draw(), usleep(500);
        if (is("flood"))
            for (uint32_t n = number + 2;; n++) reply(n == number ? 0 : n, 0);
        if (is("early"))
            for (uint32_t n = number;; n++) reply(n, 0);
        if (is("half") && runs % 8 == 7) {
            tell(number);
            for (;;) pause();
        }
        if (is("die") && runs % 4 == 3) _exit(0);
        if (board && is("honest")) {
            /* An edge for each first byte. */
            const struct wug_region *from = board->batch_count ? &board->batch : &board->input;
            ((uint8_t *)board)[board->map.offset + ((uint8_t *)board)[from->offset + (board->batch_count ? 4 : 0)]] = 1;
        }
        if (board) scribble();
        if (afl) {
            tell(is("child") ? (uint32_t)word() : (uint32_t)getpid());
            tell(is("status") ? (uint32_t)word() : 0);
        } else {
            reply(number, is("status") ? (uint32_t)word() : 0);
        }
    }
}

int main(int argc, char **argv) {
    const char *number = getenv(marker);
    mode = argc > 1 ? argv[1] : "";
    if (!number) return 0;
    signal(WUG_STOP_SIGNAL, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    int afl = AFL_TARGET, v1 = !afl || !strncmp(mode, "v1-", 3);
    if (!strncmp(mode, "v1-", 3)) mode += 3;
    if (afl) {
        shmat(atoi(number), NULL, 0);
    } else {
        struct stat about;
        fstat(atoi(number), &about);
        board_size = (size_t)about.st_size;
        board = mmap(NULL, board_size, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(number), 0);
        if (board == MAP_FAILED) return 1;
        board->features = WUG_HAS_SHARED_INPUT | WUG_HAS_BATCH | WUG_HAS_PERSISTENT | WUG_HAS_TRACE;
        board->map_used = 4096;
        board->child_pid = getpid();
    }
    if (is("full")) {
        /* The pipe that we read from can be opened for writing. */
        int control = open("/proc/self/fd/198", O_WRONLY | O_NONBLOCK);
        char bytes[4096] = {0};
        while (write(control, bytes, sizeof bytes) > 0) {}
    }
    if (!v1) {
        if (is("words"))
            for (;;) tell(0);
        uint32_t size = is("map") ? WUG_OLD_MAX_MAPSIZE : 4096;
        tell(WUG_OLD_ENABLED | WUG_OLD_MAPSIZE | WUG_OLD_SHARED_INPUT | (size - 1) << 1);
        if (is("full")) pause();
        hear();
        serve(1);
    }
    tell(WUG_V1_HELLO);
    if (is("full")) pause();
    hear();
    if (is("map-error")) {
        if (board) board->map_used = 3000000000u;
        tell(WUG_V1_ERROR | WUG_V1_ERROR_MAP_SIZE);
        return 1;
    }
    if (is("map-board") && board) board->map_used = 3000000000u;
    tell(WUG_V1_MAPSIZE | WUG_V1_SHARED_INPUT | (is("words") ? WUG_V1_AUTODICT : 0));
    tell(is("map") ? 3000000000u : 4096);
    if (is("words")) {
        tell(UINT_MAX);
        for (;;) {
            char bytes[4096] = {0};
            if (write(WUG_STATUS_FD, bytes, sizeof bytes) < 0) return 0;
        }
    }
    tell(WUG_V1_HELLO);
    serve(afl);
}
#endif
