package mounts

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// locked are the attributes of every throw-away file system: nothing on it is a device, a setuid program or executable.
const locked = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC

// resolve opens a clean path below root as an O_PATH descriptor. A link on the way is ELOOP: the planner handed over paths without
// links, so one was planted since. A link as the last component is opened itself; noLink refuses it where that is wrong.
func resolve(root int, path string) (int, error) {
	rel := strings.TrimPrefix(path, "/")
	if rel == "" {
		rel = "."
	}
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_BENEATH,
	}
	for {
		fd, err := unix.Openat2(root, rel, &how)
		if err == unix.EAGAIN || err == unix.EINTR { // a rename or mount raced with the BENEATH check
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "resolve", Path: path, Err: err}
		}
		return fd, nil
	}
}

// cloneTree gives a detached copy of the mount at fd with everything mounted below it.
func cloneTree(fd int) (int, error) {
	return unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
}

// cloneOne is cloneTree without what is mounted below: a recursive clone walks every mount that its parent mount carries already,
// which would make n protected files cost n².
func cloneOne(fd int) (int, error) {
	return unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
}

func cloneReadOnly(fd int) (int, error) {
	dir := isDir(fd)
	clone := cloneOne
	if dir {
		clone = cloneTree
	}
	t, err := clone(fd)
	if err != nil {
		return -1, err
	}
	if err := setAttr(t, dir, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		unix.Close(t)
		return -1, err
	}
	return t, nil
}

func setAttr(fd int, recursive bool, attr unix.MountAttr) error {
	flags := uint(unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	return unix.MountSetattr(fd, "", flags, &attr)
}

func attach(mnt, target int) error {
	return unix.MoveMount(mnt, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// attachAt attaches mnt at path and closes it.
func attachAt(root, mnt int, path string) error {
	defer unix.Close(mnt)
	t, err := resolve(root, path)
	if err != nil {
		return err
	}
	defer unix.Close(t)
	if err := attach(mnt, t); err != nil {
		return fmt.Errorf("attach %q: %w", path, err)
	}
	return nil
}

// An option is one key of a new file system; an empty value sets a flag.
type option struct{ key, value string }

// newFS makes an anonymous file system: it has no path until it is attached and leaves nothing on disk.
func newFS(kind string, attr int, opts ...option) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("fsopen %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for _, o := range opts {
		if o.value == "" {
			err = unix.FsconfigSetFlag(fs, o.key)
		} else {
			err = unix.FsconfigSetString(fs, o.key, o.value)
		}
		if err != nil {
			return -1, fmt.Errorf("fsconfig %s %s=%s: %w", kind, o.key, o.value, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("fsconfig create %s: %w", kind, err)
	}
	m, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attr)
	if err != nil {
		return -1, fmt.Errorf("fsmount %s: %w", kind, err)
	}
	return m, nil
}

func fileType(fd int) uint32 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Mode & unix.S_IFMT
}

func isDir(fd int) bool { return fileType(fd) == unix.S_IFDIR }

func noLink(fd int, path string) error {
	if fileType(fd) == unix.S_IFLNK {
		return &os.PathError{Op: "resolve", Path: path, Err: unix.ELOOP}
	}
	return nil
}

func sameFile(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Ino == y.Ino && x.Dev == y.Dev
}
