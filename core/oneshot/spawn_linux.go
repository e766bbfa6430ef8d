package oneshot

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/entry"
)

const sendFlags = unix.MSG_NOSIGNAL

// ownedBySrt makes the kernel kill the child when the thread that started it ends. The caller must be locked to the main thread.
func ownedBySrt(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

func streamPair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return p[0], p[1], err
}

// chainThread prepares this thread, and so what it starts, for the way to the command. The signals that end a process are blocked: they are
// srt's to forward, and bwrap must not die of them before the command had its chance. (Verb launch ignores them by itself.) Timers
// are coarse (entry.Slack). was is how the command shall find its thread; restore puts it back here.
func chainThread() (was entry.Thread, restore func(), err error) {
	var stops, old unix.Sigset_t
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		stops.Val[0] |= 1 << (s - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &stops, &old); err != nil {
		return entry.Thread{}, nil, err
	}
	slack, exact := entry.Timers(entry.Slack)
	return entry.Thread{Mask: old.Val[0], Slack: slack}, func() {
		exact()
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	}, nil
}
