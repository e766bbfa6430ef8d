#include "textflag.h"

// func vfork(flags uintptr, pidfd *int32) (pid, errno uintptr)
//
// The child runs on this stack while the caller waits. The return address is in the link register, which the kernel keeps for each.
TEXT ·vfork(SB),NOSPLIT,$0-32
	MOVD	flags+0(FP), R0
	MOVD	$0, R1 // the same stack
	MOVD	pidfd+8(FP), R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8 // clone
	SVC
	MOVD	$0, R1
	MOVD	R1, errno+24(FP)
	MOVD	R0, pid+16(FP)
	CMN	$4095, R0
	BCC	done
	NEG	R0, R0
	MOVD	R0, errno+24(FP)
done:
	RET
