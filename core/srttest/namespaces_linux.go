package srttest

import (
	"os/exec"
	"syscall"
)

// tryUserNamespace makes one: what the kernel's switches say is not what a container or a security module allows.
func tryUserNamespace() error {
	c := exec.Command("/bin/true")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return c.Run()
}
