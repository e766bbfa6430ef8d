package main

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// harden closes what proxyd may have inherited by mistake. macOS has no parent-death signal: the channel's end is what ends proxyd.
func harden() error {
	for fd := channelFD; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	signal.Ignore(unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)
	return nil
}
