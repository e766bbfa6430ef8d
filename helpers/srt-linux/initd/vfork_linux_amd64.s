#include "textflag.h"

// func vfork(flags uintptr, pidfd *int32) (pid, errno uintptr)
//
// The child runs on this stack while the caller waits. What it calls lies where the return address was, so that waits in a register.
TEXT ·vfork(SB),NOSPLIT|NOFRAME,$0-32
	MOVQ	flags+0(FP), DI
	MOVQ	$0, SI // the same stack
	MOVQ	pidfd+8(FP), DX
	MOVQ	$0, R10
	MOVQ	$0, R8
	MOVQ	$56, AX // clone
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	MOVQ	$0, errno+24(FP)
	MOVQ	AX, pid+16(FP)
	CMPQ	AX, $-4095
	JCS	done
	NEGQ	AX
	MOVQ	AX, errno+24(FP)
done:
	RET
