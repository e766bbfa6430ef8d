package mounts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/srt-dev/srt/helpers/srt-linux/dirent"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// OpenSSH gives up when a file that its configuration includes belongs neither to root nor to who runs it. In the sandbox of an ordinary
// user root's files belong to nobody, because only his own id can be mapped: every ssh, and git over it, would end with "Bad owner or
// permissions". So the command finds copies of such files there that are its own.

// includes are the directories that such files lie in.
var includes = [...]string{
	"/etc/ssh/ssh_config.d",          // included by OpenSSH's own configuration
	"/etc/crypto-policies/back-ends", // included by a file in there (Fedora and its relatives)
}

// maxInclude is the size of a file that is copied, in bytes. A directory with a larger one stays as it is.
const maxInclude = 64 << 10

// errAsItIs leaves a directory as it is.
var errAsItIs = errors.New("not to be copied")

// ownIncludes covers the directories with what they hold. The view is finished: what it hides is not copied.
func ownIncludes(root int, v *view.View) error {
	for _, dir := range includes {
		switch err := ownInclude(root, dir, v); {
		case errors.Is(err, errAsItIs), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		case err != nil:
			return fault(dir, err)
		}
	}
	return nil
}

func ownInclude(root int, dir string, v *view.View) error {
	t, err := resolve(root, dir)
	if err != nil {
		return err
	}
	defer unix.Close(t)
	var st unix.Stat_t
	if err := unix.Fstat(t, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Uid == 0 { // the caller is root, or the directory is his
		return errAsItIs
	}
	files, err := readInclude(t)
	if err != nil {
		return err
	}
	if len(files) == 0 || speaksOf(v, dir) {
		return errAsItIs
	}
	m, err := copyInclude(files)
	if err != nil {
		return err
	}
	defer unix.Close(m)
	return attach(m, t)
}

// speaksOf says whether the policy has something to say about dir or what is in it.
func speaksOf(v *view.View, dir string) bool {
	for _, list := range [][]view.Target{v.Write, v.Reopen, v.ReadOnly, v.Hide} {
		for i := range list {
			if view.Within(list[i].Path, dir) {
				return true
			}
		}
	}
	return false
}

// readInclude gives the files of a directory by name, with links followed.
func readInclude(dir int) (map[string][]byte, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	files := map[string][]byte{}
	var wrong error
	err = dirent.Visit(fd, func(name []byte, _ byte) bool {
		files[string(name)], wrong = readFile(fd, string(name))
		return wrong == nil
	})
	return files, errors.Join(wrong, err)
}

func readFile(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if fileType(fd) != unix.S_IFREG {
		return nil, errAsItIs
	}
	text, err := io.ReadAll(io.LimitReader(f, maxInclude+1))
	if len(text) > maxInclude {
		return nil, errAsItIs
	}
	return text, err
}

// copyInclude makes a file system that holds files, for reading only.
func copyInclude(files map[string][]byte) (int, error) {
	m, err := newFS("tmpfs", locked, option{"mode", "0755"})
	if err != nil {
		return -1, err
	}
	for name, text := range files {
		fd, err := unix.Openat(m, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if err == nil {
			f := os.NewFile(uintptr(fd), name)
			_, werr := f.Write(text)
			err = errors.Join(werr, f.Close())
		}
		if err != nil {
			unix.Close(m)
			return -1, fmt.Errorf("copy %q: %w", name, err)
		}
	}
	return m, setAttr(m, false, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}
