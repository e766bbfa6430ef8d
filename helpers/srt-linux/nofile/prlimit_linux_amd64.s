#include "textflag.h"

// func prlimit(resource int, limit *[2]uint64) int
TEXT ·prlimit(SB), NOSPLIT, $0-24
	MOVQ $302, AX // prlimit64
	MOVQ $0, DI   // this process
	MOVQ resource+0(FP), SI
	MOVQ $0, DX   // no new limit
	MOVQ limit+8(FP), R10
	SYSCALL
	MOVQ AX, ret+16(FP)
	RET
