//go:build linux || darwin

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// dropTyped throws away what the terminal has received and nobody has read.
func dropTyped(tty int) { flushInput(tty) }

// readAnswer reads one line from the terminal until the deadline.
func readAnswer(tty int, deadline time.Time) (line string, ok bool) {
	b := make([]byte, 256)
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return "", false
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(tty), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if err == unix.EINTR { //nolint:errorlint // a bare errno
			continue
		}
		if err != nil || n == 0 {
			return "", false
		}
		n, err = unix.Read(tty, b)
		if err == unix.EINTR { //nolint:errorlint // a bare errno
			continue
		}
		if err != nil || n == 0 {
			return "", false
		}
		return string(b[:n]), true
	}
}
