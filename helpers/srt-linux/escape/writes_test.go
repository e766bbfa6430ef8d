package escape

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	classes["writes"] = class{
		settings: func(string) string { return `{"filesystem":{"allowWrite":["."]}}` },
		prepare: func(t *testing.T, s stage) {
			for _, d := range []string{s.Work, s.Out} {
				if err := os.Mkdir(d+"/dir", 0o755); err != nil {
					t.Fatal(err)
				}
			}
			write(t, s.Work+"/mine", "mine")
		},
		state: func(s stage) string { return fingerprint(s.Out) },
		start: func(t *testing.T, cmd *exec.Cmd, base string) { // descriptors that were left open: a directory and a file outside
			for _, name := range []string{filepath.Join(base, "out"), stageOf(base, "an inherited file", host{}).Out + "/victim"} {
				f, err := os.OpenFile(name, os.O_RDONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				cmd.ExtraFiles = append(cmd.ExtraFiles, f)
			}
		},
		attacks: append(fileWrites, mountWrites...),
	}
}

// do makes an attack of a call without loot.
func do(f func(s stage) error) func(stage) (string, error) {
	return func(s stage) (string, error) { return "", f(s) }
}

func overwrite(name string) error {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte("attacked"))
	return err
}

func create(name string) error {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// parent gives a path below /proc of the parent: of whoever runs the test outside, of process 1 in the sandbox.
func parent(name string) string { return fmt.Sprintf("/proc/%d/%s", os.Getppid(), name) }

// reopen opens what fd refers to once more, for writing.
func reopen(fd int) error { return overwrite(fmt.Sprintf("/proc/self/fd/%d", fd)) }

func withOpen(name string, flags int, f func(fd int) error) error {
	fd, err := unix.Open(name, flags, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return f(fd)
}

var fileWrites = []attack{
	{"open and write", anybody, do(func(s stage) error { return overwrite(s.Out + "/victim") })},
	{"create", anybody, do(func(s stage) error { return create(s.Out + "/new") })},
	{"through a link", anybody, do(func(s stage) error {
		if err := os.Symlink(s.Out, s.Work+"/link"); err != nil {
			return err
		}
		return overwrite(s.Work + "/link/victim")
	})},
	{"create through a dangling link", anybody, do(func(s stage) error {
		if err := os.Symlink(s.Out+"/new", s.Work+"/link"); err != nil {
			return err
		}
		return withOpen(s.Work+"/link", unix.O_WRONLY|unix.O_CREAT, func(int) error { return nil })
	})},
	{"through dot dot", anybody, do(func(s stage) error { return overwrite(s.Work + "/../../out/" + filepath.Base(s.Out) + "/victim") })},
	{"through the root of a process", anybody, do(func(s stage) error { return overwrite("/proc/self/root" + s.Out + "/victim") })},
	{"through the root of the parent", anybody, do(func(s stage) error { return overwrite(parent("root") + s.Out + "/victim") })},
	{"through the working directory", anybody, do(func(s stage) error {
		if err := unix.Chdir(s.Out); err != nil {
			return err
		}
		return overwrite("/proc/thread-self/cwd/victim")
	})},
	{"an inherited directory", anybody, do(func(s stage) error {
		fd, err := unix.Openat(3, filepath.Base(s.Out)+"/victim", unix.O_WRONLY|unix.O_TRUNC, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	})},
	{"an inherited file", anybody, do(func(stage) error { return reopen(4) })},
	{"reopen what is open for reading", anybody, do(func(s stage) error { return withOpen(s.Out+"/victim", unix.O_RDONLY, reopen) })},
	{"reopen a bare path descriptor", anybody, do(func(s stage) error { return withOpen(s.Out+"/victim", unix.O_PATH, reopen) })},
	{"reopen through map_files", rootOnly, do(func(s stage) error {
		return withOpen(s.Out+"/victim", unix.O_RDONLY, func(fd int) error {
			m, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			at := addressOf(m)
			return overwrite(fmt.Sprintf("/proc/self/map_files/%x-%x", at, at+4096))
		})
	})},
	{"openat2", anybody, do(func(s stage) error {
		fd, err := unix.Openat2(unix.AT_FDCWD, s.Out+"/victim", &unix.OpenHow{Flags: unix.O_WRONLY | unix.O_TRUNC})
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	})},
	{"truncate", anybody, do(func(s stage) error { return unix.Truncate(s.Out+"/victim", 1) })},
	{"unlink", anybody, do(func(s stage) error { return unix.Unlink(s.Out + "/victim") })},
	{"rmdir", anybody, do(func(s stage) error { return unix.Rmdir(s.Out + "/dir") })},
	{"mkdir", anybody, do(func(s stage) error { return unix.Mkdir(s.Out+"/new", 0o755) })},
	{"mkfifo", anybody, do(func(s stage) error { return unix.Mkfifo(s.Out+"/new", 0o644) })},
	{"symlink", anybody, do(func(s stage) error { return unix.Symlink("/", s.Out+"/new") })},
	{"bind a socket", anybody, do(func(s stage) error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Bind(fd, &unix.SockaddrUnix{Name: s.Out + "/new"})
	})},
	{"link out", anybody, do(func(s stage) error { return unix.Link(s.Work+"/mine", s.Out+"/new") })},
	{"link in", anybody, do(func(s stage) error { return unix.Link(s.Out+"/victim", s.Work+"/second") })},
	{"link in by descriptor", anybody, do(func(s stage) error {
		return withOpen(s.Out+"/victim", unix.O_RDONLY, func(fd int) error {
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, s.Work+"/second", unix.AT_SYMLINK_FOLLOW)
		})
	})},
	{"rename away", anybody, do(func(s stage) error { return unix.Rename(s.Out+"/victim", s.Out+"/gone") })},
	{"rename in", anybody, do(func(s stage) error { return unix.Rename(s.Out+"/victim", s.Work+"/taken") })},
	{"rename over", anybody, do(func(s stage) error { return unix.Rename(s.Work+"/mine", s.Out+"/victim") })},
	{"exchange", anybody, do(func(s stage) error {
		return unix.Renameat2(unix.AT_FDCWD, s.Work+"/mine", unix.AT_FDCWD, s.Out+"/victim", unix.RENAME_EXCHANGE)
	})},
	{"whiteout", rootOnly, do(func(s stage) error {
		return unix.Renameat2(unix.AT_FDCWD, s.Out+"/victim", unix.AT_FDCWD, s.Out+"/gone", unix.RENAME_WHITEOUT)
	})},
	{"a nameless file gets a name outside", anybody, do(func(s stage) error {
		return withOpen(s.Out, unix.O_TMPFILE|unix.O_WRONLY, func(fd int) error {
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, s.Out+"/new", unix.AT_SYMLINK_FOLLOW)
		})
	})},
	{"a nameless file of its own gets a name outside", anybody, do(func(s stage) error {
		return withOpen(s.Work, unix.O_TMPFILE|unix.O_WRONLY, func(fd int) error {
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, s.Out+"/new", unix.AT_SYMLINK_FOLLOW)
		})
	})},
	{"chmod", anybody, do(func(s stage) error { return unix.Chmod(s.Out+"/victim", 0o777) })},
	{"fchmod of a file open for reading", anybody, do(func(s stage) error {
		return withOpen(s.Out+"/victim", unix.O_RDONLY, func(fd int) error { return unix.Fchmod(fd, 0o777) })
	})},
	{"fchmodat2", anybody, do(func(s stage) error {
		return unix.Fchmodat(unix.AT_FDCWD, s.Out+"/victim", 0o777, unix.AT_SYMLINK_NOFOLLOW)
	})},
	{"chown", rootOnly, do(func(s stage) error { return unix.Chown(s.Out+"/victim", 65534, 65534) })},
	{"times", anybody, do(func(s stage) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, s.Out+"/victim", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	})},
	{"an attribute", anybody, do(func(s stage) error { return unix.Setxattr(s.Out+"/victim", "user.attacked", []byte("1"), 0) })},
	{"an attribute of a file open for reading", anybody, do(func(s stage) error {
		return withOpen(s.Out+"/victim", unix.O_RDONLY, func(fd int) error { return unix.Fsetxattr(fd, "user.attacked", []byte("1"), 0) })
	})},
	{"an access control list", anybody, do(func(s stage) error { // user::rwx user:1:rwx group::rwx mask::rwx other::rwx
		acl := binary.LittleEndian.AppendUint32(nil, 2)
		for _, e := range [][3]uint32{{1, 7, 1<<32 - 1}, {2, 7, 1}, {4, 7, 1<<32 - 1}, {16, 7, 1<<32 - 1}, {32, 7, 1<<32 - 1}} {
			acl = binary.LittleEndian.AppendUint16(acl, uint16(e[0]))
			acl = binary.LittleEndian.AppendUint16(acl, uint16(e[1]))
			acl = binary.LittleEndian.AppendUint32(acl, e[2])
		}
		return unix.Setxattr(s.Out+"/victim", "system.posix_acl_access", acl, 0)
	})},
	{"flags of a file open for reading", anybody, do(func(s stage) error {
		const noDump = 0x40
		return withOpen(s.Out+"/victim", unix.O_RDONLY, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, noDump) })
	})},
	{"a core file", nobody, do(func(s stage) error { // where one lies is the machine's choice
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
			return err
		}
		cmd := exec.Command("/bin/sh", "-c", "kill -SEGV $$")
		cmd.Dir = s.Out
		return cmd.Run()
	})},
}

var mountWrites = []attack{
	{"make the mount writable", nobody, do(func(s stage) error {
		if err := unix.Mount("none", s.Out, "", unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
			return err
		}
		return overwrite(s.Out + "/victim")
	})},
	{"mount over it and write to what is below", nobody, do(func(s stage) error {
		if err := unix.Mount(s.Out, s.Work+"/dir", "", unix.MS_BIND, ""); err != nil {
			return err
		}
		return overwrite(s.Work + "/dir/victim")
	})},
	{"mount attributes of a clone", rootOnly, do(func(s stage) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, s.Out, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return err
		}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
		return overwrite(fmt.Sprintf("/proc/self/fd/%d/victim", fd))
	})},
	{"an open tree that is no clone", anybody, do(func(s stage) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, s.Out, 0)
		if err != nil {
			return err
		}
		return overwrite(fmt.Sprintf("/proc/self/fd/%d/victim", fd))
	})},
	{"a handle", rootOnly, do(func(s stage) error {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.Out+"/victim", 0)
		if err != nil {
			return err
		}
		return withOpen(s.Work, unix.O_RDONLY, func(dir int) error { // the same file system, by a mount that is writable
			fd, err := unix.OpenByHandleAt(dir, h, unix.O_WRONLY|unix.O_TRUNC)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		})
	})},
	{"the mount namespace of the parent", rootOnly, do(func(s stage) error {
		return withOpen(parent("ns/mnt"), unix.O_RDONLY, func(ns int) error {
			if err := unix.Setns(ns, unix.CLONE_NEWNS); err != nil {
				return err
			}
			return overwrite(s.Out + "/victim")
		})
	})},
	{"a mount namespace of its own", rootOnly, do(func(s stage) error { return inNamespaces(s, unix.CLONE_NEWNS) })},
	{"a user and mount namespace of its own", anybody, do(func(s stage) error { return inNamespaces(s, unix.CLONE_NEWNS|unix.CLONE_NEWUSER) })},
	{"the disk itself", rootOnly, do(func(s stage) error { // only the node; the control does not write to the disk
		return unix.Mknod(s.Out+"/disk", unix.S_IFBLK|0o600, int(unix.Mkdev(253, 0)))
	})},
}

// inNamespaces writes to the victim from a process in new namespaces, which first makes every mount writable.
func inNamespaces(s stage, flags uintptr) error {
	cmd := exec.Command("/bin/sh", "-c", `mount -o remount,bind,rw / 2>/dev/null; echo attacked >"$1/victim"`, "sh", s.Out)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if flags&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	return cmd.Run()
}
