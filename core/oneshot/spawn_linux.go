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

// blockStops blocks, on this thread and so for what it starts, the signals that end a process: they are srt's to forward, and bwrap must
// not die of them before the command had its chance. (Verb launch ignores them by itself.) mask is what was blocked before, in the
// kernel's form.
func blockStops() (mask uint64, unblock func(), err error) {
	var stops, old unix.Sigset_t
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		stops.Val[0] |= 1 << (s - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &stops, &old); err != nil {
		return 0, nil, err
	}
	return old.Val[0], func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }, nil
}
