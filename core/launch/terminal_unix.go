//go:build linux || darwin

package launch

import "golang.org/x/sys/unix"

// terminal is the controlling terminal when one of the standard streams is it. A terminal that no stream leads to is not handed
// on: the command could read from it what the user types to somebody else.
type terminal struct {
	fd    int
	own   int  // srt's process group
	whole bool // stdin and stdout are the terminal: the command gets it at once
	given bool // the command's group has it
}

// findTerminal gives nil when no terminal is attached.
func findTerminal() *terminal {
	t := &terminal{fd: -1, own: unix.Getpgrp()}
	is := [3]bool{}
	for fd := range is {
		// The ioctl answers for the caller's own controlling terminal only.
		if _, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil {
			is[fd], t.fd = true, fd
		}
	}
	if t.fd < 0 {
		return nil
	}
	t.whole = is[0] && is[1]
	return t
}

func (t *terminal) holder() int {
	pgrp, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return pgrp
}

// foreground says whether the command is to have the terminal from its first instruction on; the init then gives it.
func (t *terminal) foreground() bool { return t != nil && t.whole && t.holder() == t.own }

// give hands the terminal to group when srt's own group has it; it reports whether the command has it now.
func (t *terminal) give(group int) bool {
	if t == nil || group <= 0 {
		return false
	}
	switch t.holder() {
	case group:
		t.given = true
	case t.own:
		t.given = t.set(group)
	}
	return t.given
}

// take brings the terminal back to srt's own group.
func (t *terminal) take() {
	if t != nil && t.given {
		t.set(t.own)
		t.given = false
	}
}
