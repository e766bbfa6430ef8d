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

// CoverProc makes the machine-wide parts of the /proc that is mounted now read-only. It runs again after the nested PID namespace
// has mounted its own.
func CoverProc() error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fault("/", err)
	}
	defer unix.Close(root)
	for _, part := range view.ProcParts {
		p := "/proc/" + part
		t, err := resolve(root, p)
		if errors.Is(err, unix.ENOENT) {
			continue // this kernel was built without it
		}
		if err != nil {
			return fault(p, err)
		}
		m, err := cloneReadOnly(t)
		if err == nil {
			err = attach(m, t)
			unix.Close(m)
		}
		unix.Close(t)
		if err != nil {
			return fault(p, err)
		}
	}
	return nil
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
	found, err := kernelMounts(v, v.Unrestricted)
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

func insideWritable(v *view.View, p string) bool {
	for _, w := range v.Write {
		if p == w.Path || strings.HasPrefix(p, strings.TrimSuffix(w.Path, "/")+"/") {
			return true
		}
	}
	return false
}

// kernelMounts gives where a writable tree carries kernel file systems. It runs before there are mounts of ours in the table, which
// may be thousands.
func kernelMounts(v *view.View, rootWritable bool) ([]string, error) {
	if len(v.Write) == 0 && !rootWritable {
		return nil, nil
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []string
	for m, err := range mountinfo.All(string(table)) {
		if err != nil {
			return nil, err
		}
		if m.Point == "/proc" || strings.HasPrefix(m.Point, "/proc/") {
			continue // CoverProc
		}
		if kernelFS[m.Type] && (rootWritable || insideWritable(v, m.Point)) {
			found = append(found, m.Point)
		}
	}
	return found, nil
}
