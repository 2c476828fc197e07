/* As counters.s, for traced builds: a call with the address of a word of that
 * block's own, as clang does by itself. */
.ifndef __wug_prelude
.set __wug_prelude, 1
.hidden __sanitizer_cov_trace_pc_guard
.macro __wug_guard
	leaq .Lwug_block\@(%rip), %rdi
	.pushsection __sancov_guards,"aw?",@progbits
	.balign 4
.Lwug_block\@:
	.long 0
	.popsection
.endm
.macro __wug_block
	__wug_guard
	{load} call __sanitizer_cov_trace_pc_guard
.endm
.macro __wug_last_block
	__wug_guard
	{load} jmp __sanitizer_cov_trace_pc_guard
.endm
