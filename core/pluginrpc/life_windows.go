package pluginrpc

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// ownedBySrt gives a child a process group of its own, which gets no Ctrl-C of the console. The lifetime pipe ties it to srt.
func ownedBySrt() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// dieWithParent has nothing to add to the lifetime pipe.
func dieWithParent() error { return nil }

// sealInherited has nothing to close: a process inherits its three standard streams, and nobody inherits them from it.
func sealInherited() error { return nil }
