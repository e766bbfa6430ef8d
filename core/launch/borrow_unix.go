//go:build linux || darwin

package launch

import "golang.org/x/sys/unix"

// Borrow takes the terminal for a question to the user while the command runs, calls ask with a descriptor of it, and gives it back.
// It reports false, without calling ask, when there is no controlling terminal, when it belongs to another job, or when a program
// reads it key by key. It may be called from any goroutine but one at a time, once Wait runs.
func (r *Run) Borrow(ask func(tty int)) bool {
	lent := make(chan int, 1)
	r.loop.post(func() { lent <- r.lend() })
	select {
	case <-r.ended:
		return false
	case tty := <-lent:
		if tty < 0 {
			return false
		}
		defer unix.Close(tty)
		defer r.loop.post(r.giveBack)
		ask(tty)
		return true
	}
}

// lend brings the terminal to srt's own group, and opens it; -1 when that must not be.
func (r *Run) lend() int {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	holder, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	mine := err == nil && (holder == unix.Getpgrp() || r.tty != nil && r.tty.given)
	modes, err := unix.IoctlGetTermios(tty, getTermios)
	if !mine || err != nil || modes.Lflag&unix.ICANON == 0 {
		unix.Close(tty)
		return -1
	}
	r.lent = true
	r.takeBack = r.tty != nil && r.tty.given
	r.tty.take()
	return tty
}

func (r *Run) giveBack() {
	r.lent = false
	if r.takeBack && r.command != nil && r.tty.give(r.command.leader()) {
		r.command.signalGroup(unix.SIGCONT) // it may have tried to read meanwhile
	}
}
