package prove

import "golang.org/x/sys/unix"

// resolver is the socket of the service that answers host names.
const resolver = "/private/var/run/mDNSResponder"

// environment reads arguments and environment of a process as ps(1) does.
func environment(pid int) error { _, err := unix.SysctlRaw("kern.procargs2", pid); return err }

// processes lists them as ps(1) does.
func processes() error { _, err := unix.SysctlKinfoProcSlice("kern.proc.all"); return err }

func swap(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
