//go:build linux || darwin

package launch

import "golang.org/x/sys/unix"

// target is the command's main process, which leads a process group.
type target interface {
	leader() int                // its process id, for the terminal
	signalMain(sig unix.Signal) // to it alone
	signalGroup(sig unix.Signal)
	close()
}
