package oneshot

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const sendFlags = unix.MSG_NOSIGNAL

// ownedBySrt makes the kernel kill the child when the thread that started it ends. The caller must be locked to the main thread.
func ownedBySrt(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

func streamPair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return p[0], p[1], err
}
