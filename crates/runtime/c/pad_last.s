	.section __sancov_cntrs,"aw",@progbits
	.balign 4096
	.globl __wug_counters_end
	.hidden __wug_counters_end
__wug_counters_end:
	.zero 64
	.section .note.GNU-stack,"",@progbits
