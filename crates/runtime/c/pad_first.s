/* For linkers that do not read our script: the first and the last object give
 * the section of counters whole pages, by alignment. The end of the counters
 * is then known to a page only. */
	.section __sancov_cntrs,"aw",@progbits
	.balign 4096
	.zero 64
	.section __sancov_guards,"aw",@progbits
	.balign 4
	.long 0
	.section .note.GNU-stack,"",@progbits
