/* Read by the assembler before the output of gcc: what gcc emits as a call
 * per block becomes one increment of a counter of that block's own. After a
 * call no register that it may clobber is expected to be kept, nor the flags,
 * so nothing is saved. A section of the same group as the function (?), so
 * that counters vanish with functions that the linker drops.
 *
 * A macro named like an instruction hides it; behind a pseudo prefix such as
 * {load}, which means nothing here, the instruction is found again. */
.ifndef __wug_prelude
.set __wug_prelude, 1
.macro __wug_block
	incb .Lwug_block\@(%rip)
	.pushsection __sancov_cntrs,"aw?",@progbits
.Lwug_block\@:
	.byte 0
	.popsection
.endm
.macro __wug_last_block
	__wug_block
	ret
.endm
