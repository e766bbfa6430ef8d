package escape

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Each stage's Out has a denied directory "closed", with a file "deep", a directory "open" that is allowed again and a name that is a
// secret; and "victim" is a denied file. Both hold the secret, also in an attribute.
func init() {
	classes["reads"] = class{
		settings: func(base string) string {
			return fmt.Sprintf(`{"filesystem":{"allowWrite":["."],"denyRead":["%[1]s/out/*/victim","%[1]s/out/*/closed","inside/*"],"allowRead":["%[1]s/out/*/closed/open"]}}`, base)
		},
		prepare: func(t *testing.T, s stage) {
			write(t, s.Out+"/closed/deep", s.Secret)
			write(t, s.Out+"/closed/"+s.Secret, "")
			write(t, s.Out+"/closed/open/free", "free")
			write(t, filepath.Dir(s.Work)+"/inside/"+filepath.Base(s.Work), s.Secret)
			for _, name := range []string{"/victim", "/closed/deep"} {
				_ = unix.Setxattr(s.Out+name, "user.note", []byte(s.Secret), 0) // the control tells where attributes cannot be had
			}
			if err := os.Symlink(s.Secret, s.Out+"/closed/link"); err != nil {
				t.Fatal(err)
			}
			write(t, s.Out+"/closed/run", "#!/bin/sh\necho "+s.Secret+"\n")
			if err := os.Chmod(s.Out+"/closed/run", 0o755); err != nil {
				t.Fatal(err)
			}
		},
		start: func(t *testing.T, cmd *exec.Cmd, base string) {
			f, err := os.Open(filepath.Join(base, "out"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		},
		through: lootHasSecret,
		attacks: fileReads,
	}
}

func read(name string) (string, error) {
	b, err := os.ReadFile(name)
	return string(b), err
}

func readAt(dir int, name string) (string, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	b := make([]byte, 4096)
	n, err := unix.Read(fd, b)
	return string(b[:max(n, 0)]), err
}

func list(name string) (string, error) {
	entries, err := os.ReadDir(name)
	return fmt.Sprint(entries), err
}

var fileReads = []attack{
	{"open a file", anybody, func(s stage) (string, error) { return read(s.Out + "/victim") }},
	{"open below a directory", anybody, func(s stage) (string, error) { return read(s.Out + "/closed/deep") }},
	{"open in the writable directory", anybody, func(s stage) (string, error) { return read(s.Work + "/../inside/" + filepath.Base(s.Work)) }},
	{"list", anybody, func(s stage) (string, error) { return list(s.Out + "/closed") }},
	{"read a link", anybody, func(s stage) (string, error) { return os.Readlink(s.Out + "/closed/link") }},
	{"through a link", anybody, func(s stage) (string, error) {
		if err := os.Symlink(s.Out+"/closed", s.Work+"/link"); err != nil {
			return "", err
		}
		return read(s.Work + "/link/deep")
	}},
	{"up from what is open inside", anybody, func(s stage) (string, error) { return read(s.Out + "/closed/open/../deep") }},
	{"up from a working directory inside", anybody, func(s stage) (string, error) {
		if err := unix.Chdir(s.Out + "/closed/open"); err != nil {
			return "", err
		}
		return readAt(unix.AT_FDCWD, "../deep")
	}},
	{"list up from what is open inside", anybody, func(s stage) (string, error) { return list(s.Out + "/closed/open/..") }},
	{"through the root of a process", anybody, func(s stage) (string, error) { return read("/proc/self/root" + s.Out + "/victim") }},
	{"through the root of the parent", anybody, func(s stage) (string, error) { return read(parent("root") + s.Out + "/victim") }},
	{"through the working directory of the parent", anybody, func(s stage) (string, error) {
		return list(parent("cwd") + strings.Repeat("/..", 20) + s.Out + "/closed")
	}},
	{"a link to it", anybody, func(s stage) (string, error) {
		if err := os.Link(s.Out+"/victim", s.Work+"/second"); err != nil {
			return "", err
		}
		return read(s.Work + "/second")
	}},
	{"a link in the writable directory", anybody, func(s stage) (string, error) {
		if err := os.Link(s.Work+"/../inside/"+filepath.Base(s.Work), s.Work+"/second"); err != nil {
			return "", err
		}
		return read(s.Work + "/second")
	}},
	{"rename it in the writable directory", anybody, func(s stage) (string, error) {
		if err := os.Rename(s.Work+"/../inside/"+filepath.Base(s.Work), s.Work+"/second"); err != nil {
			return "", err
		}
		return read(s.Work + "/second")
	}},
	{"reopen a bare path descriptor", anybody, func(s stage) (loot string, err error) {
		err = withOpen(s.Out+"/victim", unix.O_PATH, func(fd int) error {
			loot, err = read(fmt.Sprintf("/proc/self/fd/%d", fd))
			return err
		})
		return loot, err
	}},
	{"below a bare path descriptor", anybody, func(s stage) (loot string, err error) {
		err = withOpen(s.Out+"/closed", unix.O_PATH, func(fd int) error {
			loot, err = readAt(fd, "deep")
			return err
		})
		return loot, err
	}},
	{"an inherited directory", anybody, func(s stage) (string, error) { return readAt(3, filepath.Base(s.Out)+"/victim") }},
	{"an attribute of a file", anybody, func(s stage) (string, error) { return attribute(s.Out + "/victim") }},
	{"an attribute below a directory", anybody, func(s stage) (string, error) { return attribute(s.Out + "/closed/deep") }},
	{"run it", anybody, func(s stage) (string, error) {
		out, err := exec.Command(s.Out + "/closed/run").Output()
		return string(out), err
	}},
	{"let a shell read it", anybody, func(s stage) (string, error) {
		out, err := exec.Command("/bin/sh", s.Out+"/closed/run").Output()
		return string(out), err
	}},
	{"openat2", anybody, func(s stage) (string, error) {
		fd, err := unix.Openat2(unix.AT_FDCWD, s.Out+"/victim", &unix.OpenHow{Flags: unix.O_RDONLY})
		if err != nil {
			return "", err
		}
		return read(fmt.Sprintf("/proc/self/fd/%d", fd))
	}},
	{"a handle of a file seen before it was covered", rootOnly, func(s stage) (loot string, err error) {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.Out+"/closed/deep", 0)
		if err != nil {
			return "", err
		}
		err = withOpen(s.Work, unix.O_RDONLY, func(dir int) error {
			fd, err := unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
			if err != nil {
				return err
			}
			loot, err = read(fmt.Sprintf("/proc/self/fd/%d", fd))
			return err
		})
		return loot, err
	}},
	{"a handle of the directory around it", rootOnly, func(s stage) (loot string, err error) { // names in it are found by number
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.Out, 0)
		if err != nil {
			return "", err
		}
		err = withOpen(s.Work, unix.O_RDONLY, func(dir int) error {
			fd, err := unix.OpenByHandleAt(dir, h, unix.O_RDONLY|unix.O_DIRECTORY)
			if err != nil {
				return err
			}
			loot, err = readAt(fd, "closed/deep")
			return err
		})
		return loot, err
	}},
	{"a clone of the tree without what covers it", rootOnly, func(s stage) (string, error) {
		fd, err := unix.OpenTree(unix.AT_FDCWD, s.Out, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return "", err
		}
		return readAt(fd, "closed/deep")
	}},
	{"a bind of the tree without what covers it", rootOnly, func(s stage) (string, error) {
		if err := os.Mkdir(s.Work+"/at", 0o755); err != nil {
			return "", err
		}
		if err := unix.Mount(s.Out, s.Work+"/at", "", unix.MS_BIND, ""); err != nil {
			return "", err
		}
		return read(s.Work + "/at/closed/deep")
	}},
	{"take the cover off", nobody, func(s stage) (string, error) { // nothing covers it in the control
		err := errors.Join(unix.Unmount(s.Out+"/closed", unix.MNT_DETACH), unix.Unmount(s.Out+"/victim", unix.MNT_DETACH))
		loot, _ := read(s.Out + "/victim")
		return loot, err
	}},
	{"take the cover off in namespaces of its own", anybody, func(s stage) (string, error) {
		cmd := exec.Command("/bin/sh", "-c", `umount -l "$1/closed"; umount -l "$1/victim"; cat "$1/closed/deep" "$1/victim"`, "sh", s.Out)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}}
		out, err := cmd.Output()
		return string(out), err
	}},
	{"the mount namespace of the parent", rootOnly, func(s stage) (loot string, err error) {
		err = withOpen(parent("ns/mnt"), unix.O_RDONLY, func(ns int) error {
			if err := unix.Setns(ns, unix.CLONE_NEWNS); err != nil {
				return err
			}
			loot, err = read(s.Out + "/victim")
			return err
		})
		return loot, err
	}},
	{"a watch on the directory tells names", anybody, func(s stage) (string, error) {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		if _, err := unix.InotifyAddWatch(fd, s.Out+"/closed", unix.IN_ALL_EVENTS); err != nil {
			return "", err
		}
		_, _ = os.ReadFile(s.Out + "/closed/" + s.Secret)
		b := make([]byte, 4096)
		n, err := unix.Read(fd, b)
		return string(b[:max(n, 0)]), err
	}},
	{"copy_file_range", anybody, func(s stage) (loot string, err error) {
		err = withOpen(s.Out+"/victim", unix.O_RDONLY, func(from int) error {
			return withOpen(s.Work+"/copy", unix.O_RDWR|unix.O_CREAT, func(to int) error {
				if _, err := unix.CopyFileRange(from, nil, to, nil, 4096, 0); err != nil {
					return err
				}
				loot, err = read(s.Work + "/copy")
				return err
			})
		})
		return loot, err
	}},
	{"size and times", anybody, func(s stage) (string, error) { // a size that gives the content away
		var st unix.Stat_t
		if err := unix.Stat(s.Out+"/closed/deep", &st); err != nil {
			return "", err
		}
		if st.Size == int64(len(s.Secret)) {
			return s.Secret, nil
		}
		return "", nil
	}},
	{"a search by name", anybody, func(s stage) (string, error) { // a guess is confirmed
		if err := unix.Access(s.Out+"/closed/"+s.Secret, unix.F_OK); err != nil {
			return "", err
		}
		return s.Secret, nil
	}},
	{"paths that the kernel tells", anybody, func(s stage) (string, error) {
		loot := ""
		for _, name := range []string{"self/mountinfo", "self/mounts", "self/maps", "self/cmdline", "1/cmdline", "1/mountinfo", "locks"} {
			text, _ := read("/proc/" + name)
			loot += text
		}
		if err := withOpen(s.Out+"/closed/"+s.Secret, unix.O_PATH, func(fd int) error {
			text, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			loot += text
			return err
		}); err != nil {
			return strings.ReplaceAll(loot, `\040`, " "), err
		}
		return loot, nil
	}},
}

func attribute(name string) (string, error) {
	b := make([]byte, 256)
	n, err := unix.Getxattr(name, "user.note", b)
	return string(b[:max(n, 0)]), err
}
