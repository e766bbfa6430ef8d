package fileplan

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-linux/dirent"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// maxFile bounds what is read of a git configuration file, in bytes. Longer ones are cut: git's own are a few hundred.
const maxFile = 256 << 10

// hostFS is the real file system as pathrule wants to see it. Only ReadDir may be called from several goroutines at once.
type hostFS struct {
	startedNs int64
	table     func() mountTable
}

func newHostFS(startedNs int64) *hostFS {
	return &hostFS{startedNs: startedNs, table: sync.OnceValue(readTable)}
}

// ConcurrentReadDir implements pathrule.Concurrent.
func (h *hostFS) ConcurrentReadDir() {}

func kindOf(mode uint32) pathrule.Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return pathrule.File
	case unix.S_IFDIR:
		return pathrule.Dir
	case unix.S_IFLNK:
		return pathrule.Link
	}
	return pathrule.Other
}

// Lstat implements pathrule.FS.
func (h *hostFS) Lstat(path string) pathrule.Kind {
	var st unix.Stat_t
	if retry(func() error { return unix.Lstat(path, &st) }) != nil {
		return pathrule.Missing
	}
	return kindOf(st.Mode)
}

// secondName says that path is a plain file with more than one name.
func (h *hostFS) secondName(path string) bool {
	var st unix.Stat_t
	return retry(func() error { return unix.Lstat(path, &st) }) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1
}

// MaySearch implements pathrule.Searcher.
func (h *hostFS) MaySearch(dir string) bool {
	return retry(func() error { return unix.Access(dir, unix.X_OK) }) != unix.EACCES
}

// MayChange implements pathrule.Searcher: a mode is its owner's to change.
func (h *hostFS) MayChange(dir string) bool {
	var st unix.Stat_t
	return retry(func() error { return unix.Lstat(dir, &st) }) == nil && int(st.Uid) == unix.Geteuid()
}

// Readlink implements pathrule.FS.
func (h *hostFS) Readlink(path string) string {
	var buf [4096]byte
	n, err := unix.Readlink(path, buf[:])
	if err != nil || n == len(buf) {
		return ""
	}
	return string(buf[:n])
}

// openNoLinks opens path without following a link in any component and without waiting for a FIFO.
func openNoLinks(path string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// ReadDir implements pathrule.FS. /dev, /proc and /sys are the sandbox's own and hold nothing to look for.
func (h *hostFS) ReadDir(path string, visit func(name []byte, kind pathrule.Kind)) error {
	return h.inDir(path, func(dir int) error { return h.list(dir, visit) })
}

// inDir opens a directory that may be searched.
func (h *hostFS) inDir(path string, f func(dir int) error) error {
	if ownedBySandbox(path) {
		return nil
	}
	if typ := h.table().skip[path]; typ != "" {
		return fmt.Errorf("a %s file system", typ)
	}
	fd, err := openNoLinks(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return f(fd)
}

func (h *hostFS) list(fd int, visit func(name []byte, kind pathrule.Kind)) error {
	return dirent.Visit(fd, func(name []byte, typ byte) bool {
		visit(name, h.direntKind(fd, typ, name))
		return true
	})
}

func (h *hostFS) direntKind(dir int, typ byte, name []byte) pathrule.Kind {
	switch typ {
	case unix.DT_REG:
		return pathrule.File
	case unix.DT_DIR:
		return pathrule.Dir
	case unix.DT_LNK:
		return pathrule.Link
	case unix.DT_UNKNOWN: // some file systems do not say
		var st unix.Stat_t
		if unix.Fstatat(dir, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return pathrule.Missing
		}
		return kindOf(st.Mode)
	}
	return pathrule.Other
}

// ReadFile implements pathrule.FS.
func (h *hostFS) ReadFile(path string) []byte {
	fd, err := openNoLinks(path, unix.O_RDONLY)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	content := make([]byte, 0, min(st.Size+1, maxFile))
	for len(content) < maxFile {
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
		n, err := unix.Read(fd, content[len(content):cap(content)])
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			break
		}
		content = content[:len(content)+n]
	}
	return content
}

// BornAfterStart implements pathrule.FS. A file system that does not keep birth times answers false.
func (h *hostFS) BornAfterStart(path string) bool {
	st, ok := statx(path, unix.STATX_BTIME)
	return ok && h.late(st.Btime)
}

// ChangedAfterStart implements pathrule.Changer by the time of the last change of the inode, which nobody can set.
func (h *hostFS) ChangedAfterStart(path string) bool {
	st, ok := statx(path, unix.STATX_CTIME)
	return !ok || h.late(st.Ctime)
}

func (h *hostFS) late(t unix.StatxTimestamp) bool { return t.Sec*1e9+int64(t.Nsec) > h.startedNs }

func statx(path string, want int) (unix.Statx_t, bool) {
	var st unix.Statx_t
	err := retry(func() error {
		return unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, want, &st)
	})
	return st, err == nil && int(st.Mask)&want == want
}

// ownedBySandbox says that a path lies where the init puts file systems of the run's own.
func ownedBySandbox(path string) bool {
	for _, top := range []string{"/dev", "/proc", "/sys"} {
		if view.Within(path, top) {
			return true
		}
	}
	return false
}

func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}
