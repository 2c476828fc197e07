/* Linked into every instrumented executable and shared library, all of it
 * hidden: so each module has hooks of its own that are called without a jump
 * table, and counters of its own.
 *
 * It presents the module to the core, which hands out ids and maps the
 * counters onto the fuzzer's map. Needs no libc: it is also linked into
 * programs without one, where it finds no core and does nothing. */
#include "internal.h"

/* The linker script of `wug cc` defines these, or pad_first.s and pad_last.s. */
extern HIDDEN uint8_t __start___sancov_cntrs[], __wug_counters_end[];
extern HIDDEN uint32_t __start___sancov_guards[], __stop___sancov_guards[];
extern HIDDEN const char __ehdr_start[];

static uint8_t nowhere[1];
static const struct wug_core silence = {.map = nowhere};
HIDDEN struct wug_self wug_self;
HIDDEN const struct wug_core *wug_hooks = &silence;

static void register_module(void) {
    static int done;
    if (done) return;
    done = 1;
    wug_self.base = (uintptr_t)__ehdr_start;
    wug_self.counters = __start___sancov_cntrs;
    wug_self.counter_count = (size_t)(__wug_counters_end - __start___sancov_cntrs);
    wug_self.guards = __start___sancov_guards;
    wug_self.guard_count = (size_t)(__stop___sancov_guards - __start___sancov_guards);
    wug_self.traced = wug_is_traced != 0;
    if (__wug_register) wug_hooks = __wug_register(&wug_self);
}

/* Before everything else that a priority can come before. */
__attribute__((constructor(101))) static void early(void) { register_module(); }

/* clang's objects call these from constructors of their own, even earlier. */
HIDDEN void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop) {
    (void)start, (void)stop;
    register_module();
}
HIDDEN void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    (void)start, (void)stop;
    register_module();
}
HIDDEN void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) { (void)start, (void)stop; }
HIDDEN void __sanitizer_cov_bool_flag_init(uint8_t *start, uint8_t *stop) { (void)start, (void)stop; }

/* Guards hold ids; 0, before registration, is a place that nobody reads. */
HIDDEN void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    const struct wug_core *core = wug_hooks;
    uint32_t id = *guard;
    if (core->block) core->block(id);
    else core->map[id]++;
}

/* gcc's call per block where the assembler could not turn it into a counter:
 * nothing to tell blocks apart by. */
HIDDEN void __sanitizer_cov_trace_pc(void) {}

#define COMPARE(name, type, bytes, flags)                                                    \
    HIDDEN void __sanitizer_cov_trace_##name(type a, type b) {                               \
        const struct wug_core *core = wug_hooks;                                             \
        if (core->compare) core->compare(&wug_self, SITE, a, b, bytes, flags);               \
    }
COMPARE(cmp1, uint8_t, 1, 0)
COMPARE(cmp2, uint16_t, 2, 0)
COMPARE(cmp4, uint32_t, 4, 0)
COMPARE(cmp8, uint64_t, 8, 0)
COMPARE(const_cmp1, uint8_t, 1, WUG_FLAG_CONSTANT)
COMPARE(const_cmp2, uint16_t, 2, WUG_FLAG_CONSTANT)
COMPARE(const_cmp4, uint32_t, 4, WUG_FLAG_CONSTANT)
COMPARE(const_cmp8, uint64_t, 8, WUG_FLAG_CONSTANT)

HIDDEN void __sanitizer_cov_trace_cmpf(float a, float b) {
    if (wug_hooks->float_compare) wug_hooks->float_compare(&wug_self, SITE, a, b);
}
HIDDEN void __sanitizer_cov_trace_cmpd(double a, double b) {
    if (wug_hooks->float_compare) wug_hooks->float_compare(&wug_self, SITE, a, b);
}
/* cases[0]: how many, cases[1]: bits of the value, then the cases. */
HIDDEN void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases) {
    if (wug_hooks->switch_) wug_hooks->switch_(&wug_self, SITE, value, cases);
}
/* Other things that clang can trace, and that we do not ask for. */
HIDDEN void __sanitizer_cov_trace_div4(uint32_t value) { (void)value; }
HIDDEN void __sanitizer_cov_trace_div8(uint64_t value) { (void)value; }
HIDDEN void __sanitizer_cov_trace_gep(uintptr_t index) { (void)index; }
HIDDEN void __sanitizer_cov_trace_pc_indir(uintptr_t callee) { (void)callee; }
