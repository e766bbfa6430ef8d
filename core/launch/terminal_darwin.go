package launch

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// set moves the terminal while SIGTTOU is ignored, since a group in the background may do so only then.
func (t *terminal) set(group int) bool {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) == nil
}
