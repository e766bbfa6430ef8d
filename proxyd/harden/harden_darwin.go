package harden

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// Process closes what proxyd may have inherited by mistake. The signals of the terminal are for the command and for srt: proxyd lives
// until its channel closes.
func Process() error {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	signal.Ignore(unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)
	return nil
}

// DieWithParent has nothing to do: macOS has no parent-death signal, the channel's end is what ends proxyd.
func DieWithParent() error { return nil }
