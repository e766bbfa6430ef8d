package mounts

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-linux/mountinfo"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// kernelFS are the file-system types through which a write changes the machine, not a file. They become read-only wherever they lie:
// a second proc below a writable tree would give a root caller /proc/sys back.
var kernelFS = map[string]bool{
	"proc": true, "sysfs": true, "cgroup": true, "cgroup2": true, "debugfs": true, "tracefs": true, "securityfs": true, "configfs": true,
	"efivarfs": true, "pstore": true, "bpf": true, "binfmt_misc": true, "selinuxfs": true, "smackfs": true, "fusectl": true, "rpc_pipefs": true,
}

// CoverProc makes the machine-wide parts of the /proc that is mounted now read-only and hides others: behind /dev/null, and what the policy
// hides. It runs after the nested PID namespace has mounted its own. shared: it is the one of the container around, which is read-only as a whole.
func (a *Applied) CoverProc(shared bool) error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fault("/", err)
	}
	defer unix.Close(root)
	parts := view.ProcParts
	if shared {
		parts = nil
	}
	for _, part := range parts {
		p := "/proc/" + part
		if err := cover(root, p, cloneReadOnly); err != nil {
			return fault(p, err)
		}
	}
	for _, name := range view.ProcHidden {
		p := "/proc/" + name
		if err := cover(root, p, func(int) (int, error) { return nothing(root) }); err != nil {
			return fault(p, err)
		}
	}
	for _, t := range a.view.HiddenProc() {
		if err := cover(root, t.Path, a.blank.source); err != nil {
			return fault(t.Path, err)
		}
	}
	return nil
}

// cover attaches at p what from makes of it. A kernel that was built without p needs no cover.
func cover(root int, p string, from func(target int) (int, error)) error {
	t, err := resolve(root, p)
	if pe, ok := err.(*os.PathError); ok && pe.Err == unix.ENOENT { // errors.Is would make tables for it at every start
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(t)
	return coverAt(t, from)
}

// nothing is a clone of /dev/null.
func nothing(root int) (int, error) {
	fd, err := resolve(root, "/dev/null")
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return cloneOne(fd)
}

// coverKernelFS makes kernel file systems read-only that a writable tree carries.
func coverKernelFS(root int, found []string) error {
	for _, p := range found {
		t, err := resolve(root, p)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
			continue // covered by another mount, so it cannot be reached
		}
		if err != nil {
			return fault(p, err)
		}
		if err = setAttr(t, false, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); errors.Is(err, unix.EINVAL) {
			err = nil // not the root of a mount any more: something covers it
		}
		unix.Close(t)
		if err != nil {
			return fault(p, err)
		}
	}
	return nil
}

// KernelFS gives the kernel file systems, outside /proc and /dev, that v leaves writable and the caller gets to; those inside another go
// with it.
func KernelFS(v *view.View) ([]string, error) {
	found, _, err := hostMounts(v, v.Unrestricted)
	if err != nil {
		return nil, fault("/proc/self/mountinfo", err)
	}
	steps, last := v.Steps(), "\x00"
	slices.Sort(found)
	return slices.DeleteFunc(found, func(p string) bool {
		if ownMount(p) || !mayWrite(v, steps, p) || strings.HasPrefix(p, last+"/") || unix.Access(p, unix.F_OK) != nil {
			return true
		}
		last = p
		return false
	}), nil
}

// insideWritable says whether p lies within a writable tree, and whether it lies below the top of one.
func insideWritable(v *view.View, p string) (within, below bool) {
	for _, w := range v.Write {
		if view.Within(p, w.Path) {
			within, below = true, below || p != w.Path
		}
	}
	return within, below
}

// hostMounts gives where a writable tree carries kernel file systems, and whether one carries mounts at all. It runs before there are
// mounts of ours in the table, which may be thousands, and when the host's no longer come in.
func hostMounts(v *view.View, rootWritable bool) (kernel []string, carries bool, err error) {
	if len(v.Write) == 0 && !rootWritable {
		return nil, false, nil
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, false, err
	}
	for m, err := range mountinfo.All(string(table)) {
		if err != nil {
			return nil, false, err
		}
		if view.Within(m.Point, "/proc") {
			continue // CoverProc
		}
		within, below := insideWritable(v, m.Point)
		carries = carries || below
		if kernelFS[m.Type] && (rootWritable || within) {
			kernel = append(kernel, m.Point)
		}
	}
	return kernel, carries, nil
}
