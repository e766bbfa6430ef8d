package launch

import "golang.org/x/sys/unix"

// set moves the terminal while SIGTTOU is blocked in this thread, since a group in the background may do so only then.
func (t *terminal) set(group int) bool {
	var mask, old unix.Sigset_t
	bit := uint(unix.SIGTTOU - 1)
	mask.Val[bit/64] |= 1 << (bit % 64)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &mask, &old) != nil {
		return false
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) == nil
}
