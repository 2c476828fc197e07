.macro __wug_redirect instruction, replacement, target:vararg
.ifc \target,__sanitizer_cov_trace_pc
	\replacement
.else
.ifc \target,__sanitizer_cov_trace_pc@PLT
	\replacement
.else
.ifc \target,*__sanitizer_cov_trace_pc@GOTPCREL(%rip)
	\replacement
.else
.ifc \target,[QWORD PTR __sanitizer_cov_trace_pc@GOTPCREL[rip]]
	\replacement
.else
	{load} \instruction \target
.endif
.endif
.endif
.endif
.endm
.macro call target:vararg
	__wug_redirect call, __wug_block, \target
.endm
.macro jmp target:vararg
	__wug_redirect jmp, __wug_last_block, \target
.endm
.endif
