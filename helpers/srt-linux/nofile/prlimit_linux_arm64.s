#include "textflag.h"

// func prlimit(resource int, limit *[2]uint64) int
TEXT ·prlimit(SB), NOSPLIT, $0-24
	MOVD $261, R8 // prlimit64
	MOVD $0, R0   // this process
	MOVD resource+0(FP), R1
	MOVD $0, R2   // no new limit
	MOVD limit+8(FP), R3
	SVC
	MOVD R0, ret+16(FP)
	RET
