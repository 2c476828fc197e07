/* The fork server that starts where the input begins.
 *
 * Most programs set themselves up before they look at their input. So the
 * server does not start before `main`: the system hands the program's own
 * system calls to a handler (syscall user dispatch: SIGSYS in place of the
 * call), which carries them out, until one comes that may tell of the input
 * (deeds.c). There, before it is carried out, the state of the process is
 * looked at (place.c). If a fork keeps all of it, watching ends, the server
 * starts inside the handler, and each child returns from it to the same call.
 * Otherwise the fuzzer is told why, and starts the program again, with a server
 * before `main`.
 *
 * This sees every call, of libc, of a static program, of any language, and is
 * switched off by one call, after which nothing is left of it. Rejected:
 * wrapping functions at link time (libc's own calls, raw calls), a seccomp
 * filter (it stays for ever), ptrace (of each start, and the fork server would
 * have to be put into a process from outside).
 *
 * With a symbol as the place, a breakpoint there does the same; then a call
 * that may tell of the input comes too early.
 *
 * Nothing here calls libc while watching is on. */
#define _GNU_SOURCE
#include "late.h"

#ifdef WUG_CAN_BE_LATE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define DISPATCH_OFF 0
#define DISPATCH_ON 1
#define USER_DISPATCH 2 /* si_code */
#define X86_64 0xc000003eu /* si_arch */
#define SYS_BIT (UINT64_C(1) << (SIGSYS - 1))

/* Calls from between the two labels are never handed over. The system looks
 * at the address behind the instruction. */
__asm__(".pushsection .text\n"
        ".globl wug_gate, wug_gate_return, wug_gate_resume, wug_gate_end\n"
        ".hidden wug_gate, wug_gate_return, wug_gate_resume, wug_gate_end\n"
        ".type wug_gate, @function\n"
        "wug_gate:\n"
        "  mov %rdi, %rax\n"
        "  mov %rsi, %rdi\n"
        "  mov %rdx, %rsi\n"
        "  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n"
        "  mov %r9, %r8\n"
        "  mov 8(%rsp), %r9\n"
        "  syscall\n"
        "  ret\n"
        /* Behind each handler of ours. */
        "wug_gate_return:\n"
        "  mov $15, %eax\n"
        "  syscall\n"
        /* Ends a handler of the program, whose frame is at this stack. */
        "wug_gate_resume:\n"
        "  mov %rdi, %rsp\n"
        "  mov $15, %eax\n"
        "  syscall\n"
        "  hlt\n"
        "wug_gate_end:\n"
        ".popsection\n");
extern HIDDEN char wug_gate_return[], wug_gate_end[];
extern HIDDEN void wug_gate_resume(uintptr_t stack) __attribute__((noreturn));

/* As the system has it. */
struct action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};
#define RESTORER 0x04000000

static int watching;
static struct action of_program; /* for SIGSYS */
static int blocked;              /* SIGSYS, as the program believes */
static uint64_t stripped;        /* signals whose mask had SIGSYS */
static uint8_t *place, replaced; /* of a breakpoint */
static struct action trap_before;
static void watched(int number, siginfo_t *info, void *of);

static long action(int number, const struct action *new, struct action *old) {
    return GATE4(SYS_rt_sigaction, number, new, old, 8);
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *), struct action *old) {
    /* Not blocked inside: a handler of the program that a call brings on makes
     * calls of its own. */
    struct action ours = {(void *)handler, SA_SIGINFO | SA_NODEFER | RESTORER, wug_gate_return, 0};
    action(number, &ours, old);
}

/* From here on calls are the program's alone. */
static void release(ucontext_t *context) {
    wug_gate(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_OFF, 0, 0, 0, 0);
    watching = 0;
    wug_clocks_release();
    action(SIGSYS, &of_program, 0);
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;
    if (blocked) *mask |= SYS_BIT;
    for (int i = 1; i <= 64; i++) {
        struct action their;
        if (!(stripped >> (i - 1) & 1) || action(i, 0, &their)) continue;
        their.mask |= SYS_BIT;
        action(i, &their, 0);
    }
    if (place) {
        uintptr_t page = (uintptr_t)place & ~(uintptr_t)(WUG_MAP_PAGE - 1);
        GATE4(SYS_mprotect, page, WUG_MAP_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
        *place = replaced;
        GATE4(SYS_mprotect, page, WUG_MAP_PAGE, PROT_READ | PROT_EXEC, 0);
        action(SIGTRAP, &trap_before, 0);
    }
}

/* Tells why the server does not start here; the fuzzer starts us anew. */
__attribute__((noreturn)) static void give_up(uint32_t why, long number) {
    uint32_t word = WUG_V1_ERROR | WUG_V1_ERROR_LATE;
    wug.board->late_call = (uint32_t)number;
    wug.board->late_notes = wug_notes;
    __atomic_store_n(&wug.board->late, why, __ATOMIC_RELEASE);
    GATE4(SYS_write, WUG_STATUS_FD, &word, 4, 0);
    for (;;) GATE2(SYS_exit_group, 1, 0);
}

/* Starts the server. Returns in children. */
static void serve(ucontext_t *context, long number) {
    int saved = errno;
    uint32_t why = wug_place_judge();
    if (why) give_up(why, number);
    release(context);
    wug.board->late_call = (uint32_t)number;
    wug.board->late_notes = wug_notes;
    wug.board->late = WUG_LATE_SERVES;
    wug.late = 1;
    wug_start();
    errno = saved;
}

/* The mask that holds in a handler is not the program's: it comes back from
 * the frame. */
static long change_mask(const struct wug_call *call, ucontext_t *context) {
    uint64_t before = 0, given = 0, *old = (uint64_t *)call->a[2];
    int was = blocked;
    long result;
    if (call->a[1]) {
        /* With a deed that is none, the system says only whether it can read. */
        result = GATE4(SYS_rt_sigprocmask, 1000, call->a[1], 0, call->a[3]);
        if (result != -EINVAL || call->a[3] != 8) return result;
        given = *(const uint64_t *)call->a[1] & ~SYS_BIT;
    }
    result = GATE4(SYS_rt_sigprocmask, call->a[0], call->a[1] ? &given : 0, &before, call->a[3]);
    if (result) return result;
    if (call->a[1]) {
        int named = (*(const uint64_t *)call->a[1] & SYS_BIT) != 0;
        if (call->a[0] == SIG_SETMASK) blocked = named;
        else if (named) blocked = call->a[0] == SIG_BLOCK;
        GATE4(SYS_rt_sigprocmask, SIG_SETMASK, 0, &context->uc_sigmask, 8);
    }
    if (!old) return 0;
    /* Has the system say whether it can be written to. */
    result = GATE4(SYS_rt_sigprocmask, SIG_SETMASK, 0, old, 8);
    if (!result) *old = was ? before | SYS_BIT : before & ~SYS_BIT;
    return result;
}

static long change_action(const struct wug_call *call) {
    int number = (int)call->a[0];
    struct action *old = (struct action *)call->a[2], given;
    long result = GATE4(SYS_rt_sigaction, number, call->a[1], call->a[2], call->a[3]);
    if (result || number < 1 || number > 64) return result;
    if (number == SIGSYS) {
        struct action before = of_program;
        if (call->a[1]) action(SIGSYS, 0, &of_program);
        set_handler(SIGSYS, watched, 0);
        if (old) *old = before;
        return 0;
    }
    uint64_t bit = UINT64_C(1) << (number - 1);
    int had = (stripped & bit) != 0;
    if (call->a[1]) {
        stripped &= ~bit;
        if (!action(number, 0, &given) && given.mask & SYS_BIT) {
            given.mask &= ~SYS_BIT;
            stripped |= bit;
            action(number, &given, 0);
        }
    }
    if (old && had) old->mask |= SYS_BIT;
    return 0;
}

static long own_way(const struct wug_call *call, ucontext_t *context) {
    long result;
    switch (call->number) {
    case SYS_rt_sigreturn: wug_gate_resume((uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
    case SYS_rt_sigprocmask: return change_mask(call, context);
    case SYS_rt_sigaction: return change_action(call);
    case SYS_sigaltstack:
        /* Comes back from the frame as well. */
        result = GATE2(SYS_sigaltstack, call->a[0], call->a[1]);
        if (!result && call->a[0]) GATE2(SYS_sigaltstack, 0, &context->uc_stack);
        return result;
    case SYS_close:
        return -EBADF; /* a number of ours */
    default: {
        /* close_range around our numbers. */
        unsigned long first = (unsigned long)call->a[0], last = (unsigned long)call->a[1];
        result = 0;
        if (first < WUG_FIRST_FD) result = GATE4(SYS_close_range, first, WUG_FIRST_FD - 1, call->a[2], 0);
        if (!result && last > WUG_LAST_FD)
            result = GATE4(SYS_close_range, first > WUG_LAST_FD ? first : WUG_LAST_FD + 1, last, call->a[2], 0);
        return result;
    }
    }
}

/* In place of a system call. */
static void watched(int number, siginfo_t *info, void *of) {
    ucontext_t *context = of;
    greg_t *r = context->uc_mcontext.gregs;
    struct wug_call call = {info->si_syscall, {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]}};
    (void)number;
    if (info->si_code != USER_DISPATCH || info->si_arch != X86_64) give_up(WUG_LATE_SIGNAL, call.number);
    struct verdict verdict = wug_judge(&call);
    if (verdict.deed == POINT && place) verdict = (struct verdict){REFUSED, WUG_LATE_TOUCHED};
    if (verdict.deed == REFUSED) give_up(verdict.why, call.number);
    if (verdict.deed == POINT) {
        serve(context, call.number);
        /* Back to the instruction itself, of two bytes. */
        r[REG_RIP] -= 2;
        r[REG_RAX] = call.number;
        return;
    }
    wug.board->late_calls++;
    long result = verdict.deed == OWN_WAY ? own_way(&call, context)
                                          : wug_gate(call.number, call.a[0], call.a[1], call.a[2], call.a[3], call.a[4], call.a[5]);
    r[REG_RAX] = result;
    uint32_t why = wug_judge_after(&call, result);
    if (why) give_up(why, call.number);
}

static void reached(int number, siginfo_t *info, void *of) {
    ucontext_t *context = of;
    greg_t *r = context->uc_mcontext.gregs;
    (void)number, (void)info;
    if ((uintptr_t)r[REG_RIP] != (uintptr_t)place + 1) give_up(WUG_LATE_SIGNAL, -1);
    r[REG_RIP]--;
    serve(context, -1);
}

static int set_breakpoint(uint64_t site) {
    place = (uint8_t *)(wug_self.base + site);
    uintptr_t page = (uintptr_t)place & ~(uintptr_t)(WUG_MAP_PAGE - 1);
    if (mprotect((void *)page, WUG_MAP_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)) return 0;
    replaced = *place;
    *place = 0xcc;
    mprotect((void *)page, WUG_MAP_PAGE, PROT_READ | PROT_EXEC);
    set_handler(SIGTRAP, reached, &trap_before);
    return 1;
}

/* Early, so that what the program does before `main` is seen as well. */
__attribute__((constructor(102))) static void begin(void) {
    wug_attach();
    struct wug_board *board = wug.board;
    if (!board || !(board->wants & WUG_WANT_LATE) || fcntl(WUG_STATUS_FD, F_GETFD) < 0) return;
    if (wug_is_deferred || wug_is_persistent || SHARES_INPUT || __tsan_init) {
        board->late = WUG_LATE_OWN;
        return;
    }
    if (board->fork_site && !set_breakpoint(board->fork_site)) {
        place = 0;
        board->late = WUG_LATE_SYSTEM;
        return;
    }
    fcntl(0, F_DUPFD_CLOEXEC, WUG_FIRST_FD);
    wug_place_begin();
    wug_clocks_watch();
    watching = 1;
    set_handler(SIGSYS, watched, &of_program);
    if (wug_gate(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, (long)wug_gate, wug_gate_end - (char *)wug_gate, 0,
                 0)) {
        ucontext_t nobody = {0};
        release(&nobody);
        board->late = WUG_LATE_SYSTEM;
    }
}

HIDDEN int wug_is_watching(void) { return watching; }
#else
HIDDEN int wug_is_watching(void) { return 0; }
#endif
