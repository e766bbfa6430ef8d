package prove

import "golang.org/x/sys/unix"

// environment reads arguments and environment of a process as ps(1) does.
func environment(pid int) error { _, err := unix.SysctlRaw("kern.procargs2", pid); return err }
