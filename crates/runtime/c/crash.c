/* Records where a run died, when the fuzzer asks: core dumps are off, and a
 * second run under a debugger costs more. The handler writes to the board
 * only, then lets the signal kill the process as it would have. */
#define _GNU_SOURCE
#include "internal.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define MAX_DEPTH 65536
#define SEARCH ((uintptr_t)16 << 10) /* bytes of stack */
#define MAX_FOUND 8
#define STACK_SIZE ((size_t)64 << 10)
static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

static void push(struct wug_crash *crash, uintptr_t pc) {
    if (crash->frame_count < WUG_MAX_FRAMES) crash->frames[crash->frame_count++] = pc;
    crash->depth++;
}

static int ours(uintptr_t pc) {
    uint32_t site;
    return wug_module_of(pc, &site) != 0xffff;
}

/* Whether a call ends just before this address in one of our modules. */
static int follows_call(uintptr_t pc) {
    if (!ours(pc) || !ours(pc - 8)) return 0;
#if defined __x86_64__
    const uint8_t *p = (const uint8_t *)pc;
    if (p[-5] == 0xe8) return 1;
    for (int n = 2; n <= 7; n++)
        if (p[-n] == 0xff && (p[1 - n] & 0x38) == 0x10) return 1;
    return 0;
#else
    return 1;
#endif
}

/* libc keeps no frame pointers, and most aborts die in it. From where the
 * stack is now, looks for the calls that left our code, then for the frame
 * around them: a pointer further up the stack followed by a return address.
 * Some of the calls may be old: all are recorded, so that the true one is
 * among them. */
static uintptr_t leave_libc(struct wug_crash *crash, uintptr_t low) {
    int found = 0;
    for (uintptr_t at = low; at < low + SEARCH && at < wug.stack_end - 2 * sizeof(uintptr_t); at += sizeof(uintptr_t)) {
        const uintptr_t *word = (const uintptr_t *)at;
        if (found < MAX_FOUND && follows_call(word[0])) {
            push(crash, word[0]);
            found++;
        } else if (found && word[0] > at && word[0] < wug.stack_end && word[0] % sizeof(uintptr_t) == 0 && word[1] &&
                   (follows_call(word[1]) || word[0] > wug.stack_end - SEARCH))
            return at;
    }
    return 0;
}

static void record(int number, siginfo_t *info, void *context) {
    struct wug_crash *crash = &wug.board->crash;
    uintptr_t pc = 0, frame = 0, low = 0;
#if defined __x86_64__
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    pc = (uintptr_t)registers[REG_RIP], frame = (uintptr_t)registers[REG_RBP], low = (uintptr_t)registers[REG_RSP];
#elif defined __aarch64__
    const mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
    pc = registers->pc, frame = registers->regs[29], low = registers->sp;
#endif
    if (crash->signal == 0) {
        crash->code = info->si_code;
        crash->address = (uintptr_t)info->si_addr;
        crash->frame_count = crash->depth = 0;
        push(crash, pc);
        if (!ours(pc)) frame = leave_libc(crash, low);
        /* Only inside the first thread's stack: nothing else is safe to read.
         * A frame pointer below the stack pointer belongs to no live frame. */
        while (crash->depth < MAX_DEPTH && frame >= low && frame < wug.stack_end - 2 * sizeof(uintptr_t) &&
               frame % sizeof(uintptr_t) == 0) {
            uintptr_t next = ((uintptr_t *)frame)[0], back = ((uintptr_t *)frame)[1];
            if (!back) break;
            push(crash, back);
            if (next <= frame) break;
            frame = next;
        }
        __atomic_store_n(&crash->signal, (uint32_t)number, __ATOMIC_RELEASE);
    }
    /* The handler is gone (SA_RESETHAND) and the signal blocked until we
     * return: then this one ends the process. */
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

HIDDEN void wug_crash_init(void) {
    if (!wug.board || !(wug.board->wants & WUG_WANT_CRASH)) return;
    if (__asan_init || __msan_init || __tsan_init) return;
    /* A stack of its own: the other may have overflowed. */
    void *stack = mmap(0, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return;
    stack_t alternative = {.ss_sp = stack, .ss_size = STACK_SIZE};
    sigaltstack(&alternative, 0);
    struct sigaction action = {.sa_sigaction = record, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) sigaction(deadly[i], &action, 0);
}
