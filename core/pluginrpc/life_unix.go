//go:build unix && !linux

package pluginrpc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ownedBySrt gives a child a session of its own; the lifetime pipe alone ties it to srt here.
func ownedBySrt() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// dieWithParent has nothing to add to the lifetime pipe.
func dieWithParent() error { return nil }

// sealInherited keeps every descriptor from the children of this process.
func sealInherited() error {
	for fd := LifetimeFD; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
