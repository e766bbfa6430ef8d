package mounts

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A cName is a name as the kernel takes it, in memory that the next one takes again: one piece for each of thousands of calls would
// cost more than they do. Its owner is one goroutine.
type cName []byte

// of gives name with the NUL that ends it. A name comes out of a path, so it holds none.
func (c *cName) of(name string) unsafe.Pointer {
	*c = append(append((*c)[:0], name...), 0)
	return unsafe.Pointer(&(*c)[0])
}

// bind is mount(2) of what from names onto what to names, with what is mounted below.
func bind(from, to unsafe.Pointer) error {
	_, _, e := unix.Syscall6(unix.SYS_MOUNT, uintptr(from), uintptr(to), 0, unix.MS_BIND|unix.MS_REC, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// look says which file name is in dir, which is not followed, and whether that is the root of a mount.
func look(dir int, name unsafe.Pointer) (id Identity, mounted bool, err error) {
	var st unix.Statx_t
	_, _, e := unix.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(name), unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_INO,
		uintptr(unsafe.Pointer(&st)), 0)
	if e != 0 {
		return Identity{}, false, e
	}
	return Identity{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}, st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, nil
}
