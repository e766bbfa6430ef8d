//go:build linux || darwin

package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sealEach does one by one what close_range cannot do here; otherwise says why it had to.
func sealEach(otherwise error) error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return otherwise
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// isOpen says whether fd is a descriptor of ours.
func isOpen(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

// isReadable says whether fd is open for reading.
func isReadable(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE != unix.O_WRONLY
}

// isTerminal says whether fd is a terminal.
func isTerminal(fd int) bool {
	_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	return err == nil
}

// writeAll reports whether all of text was written.
func writeAll(fd int, text string) bool {
	for b := []byte(text); len(b) > 0; {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR || err == unix.EAGAIN { //nolint:errorlint // bare errnos
			continue
		}
		if err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}
