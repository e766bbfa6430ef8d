package pluginrpc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ownedBySrt ties a child to the thread that starts it. SIGTERM lets the child remove what it has on disk.
func ownedBySrt() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// dieWithParent replaces SIGTERM, which a process that hangs would not obey. The calling thread must be the main one.
func dieWithParent() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) }

// sealInherited keeps every descriptor from the children of this process.
func sealInherited() error {
	if err := unix.CloseRange(LifetimeFD, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err == nil {
		return nil
	}
	for fd := LifetimeFD; fd < 1024; fd++ { // a kernel before 5.11
		unix.CloseOnExec(fd)
	}
	return nil
}
