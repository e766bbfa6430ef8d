package supervise

import "golang.org/x/sys/unix"

// cwd is AT_FDCWD as it stands in a 32-bit argument.
const cwd = uint64(uint32(0xffffff9c))

// legacy are the calls that newer architectures do not have.
var legacy = []Call{
	{Name: "open", Nr: unix.SYS_OPEN, Arg: 1, Mask: unix.O_CREAT | unix.O_PATH, Value: unix.O_CREAT, When: Plain, Why: "as openat"},
	{Name: "open", Nr: unix.SYS_OPEN, When: Explained, Why: "as openat"},
	{Name: "creat", Nr: unix.SYS_CREAT, Why: "as openat"},
	{Name: "mkdir", Nr: unix.SYS_MKDIR, Why: "as mkdirat"},
	{Name: "mknod", Nr: unix.SYS_MKNOD, Why: "as mknodat"},
	{Name: "rename", Nr: unix.SYS_RENAME, Why: "as renameat"},
	{Name: "link", Nr: unix.SYS_LINK, Why: "as linkat"},
	{Name: "symlink", Nr: unix.SYS_SYMLINK, Why: "as symlinkat"},
}

// modern rewrites a legacy call as the one that replaced it.
func modern(d *seccompData) {
	a := d.Args
	switch d.Nr {
	case unix.SYS_OPEN:
		d.Nr, d.Args = unix.SYS_OPENAT, [6]uint64{cwd, a[0], a[1], a[2]}
	case unix.SYS_CREAT:
		d.Nr, d.Args = unix.SYS_OPENAT, [6]uint64{cwd, a[0], unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, a[1]}
	case unix.SYS_MKDIR:
		d.Nr, d.Args = unix.SYS_MKDIRAT, [6]uint64{cwd, a[0], a[1]}
	case unix.SYS_MKNOD:
		d.Nr, d.Args = unix.SYS_MKNODAT, [6]uint64{cwd, a[0], a[1], a[2]}
	case unix.SYS_RENAME:
		d.Nr, d.Args = unix.SYS_RENAMEAT2, [6]uint64{cwd, a[0], cwd, a[1]}
	case unix.SYS_RENAMEAT:
		d.Nr, d.Args[4] = unix.SYS_RENAMEAT2, 0
	case unix.SYS_LINK:
		d.Nr, d.Args = unix.SYS_LINKAT, [6]uint64{cwd, a[0], cwd, a[1]}
	case unix.SYS_SYMLINK:
		d.Nr, d.Args = unix.SYS_SYMLINKAT, [6]uint64{a[0], cwd, a[1]}
	}
}
