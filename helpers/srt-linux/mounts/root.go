package mounts

import (
	"slices"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// A hidden "/" cannot be covered by a mount, as every process keeps the root that it started with. It is replaced: a tmpfs that holds
// nothing but the ways to what is re-opened, with the sandbox's own /dev and /proc.

func hidesRoot(v *view.View) bool {
	return slices.ContainsFunc(v.Hide, func(t view.Target) bool { return t.Path == "/" })
}

// emptyRoot attaches the new root over the old one and gives it the old /proc, without which the kernel lets nobody mount another.
func emptyRoot(old int) (int, error) {
	proc, err := resolve(old, "/proc")
	if err != nil {
		return -1, err
	}
	defer unix.Close(proc)
	clone, err := cloneTree(proc)
	if err != nil {
		return -1, err
	}
	m, err := newFS("tmpfs", locked, option{"mode", "0700"}, option{"size", "256k"}, option{"nr_inodes", "16384"})
	if err != nil {
		return -1, err
	}
	if err := attach(m, old); err != nil {
		return -1, err
	}
	for _, d := range []string{"proc", "dev"} {
		if err := unix.Mkdirat(m, d, 0o755); err != nil {
			return -1, err
		}
	}
	return m, attachAt(m, clone, "/proc")
}

// pivot makes newRoot the root and lets the old one go.
func pivot(newRoot int) error {
	if err := unix.Fchdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	return unix.Unmount(".", unix.MNT_DETACH)
}
