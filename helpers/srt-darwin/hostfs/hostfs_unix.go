//go:build linux || darwin

package hostfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/profile"
)

// maxFile bounds what is read of a git configuration file, in bytes: git's own are a few hundred.
const maxFile = 256 << 10

// FS is the file system at the time of one request. It remembers directories that it has listed; one goroutine uses it.
type FS struct {
	names map[string][]string // directory → names, for Real
}

// New makes an FS.
func New() *FS { return &FS{names: map[string][]string{}} }

var _ pathrule.FS = (*FS)(nil)

func kindOf(m fs.FileMode) pathrule.Kind {
	switch m.Type() {
	case 0:
		return pathrule.File
	case fs.ModeDir:
		return pathrule.Dir
	case fs.ModeSymlink:
		return pathrule.Link
	}
	return pathrule.Other
}

// Lstat implements pathrule.FS.
func (f *FS) Lstat(path string) pathrule.Kind {
	info, err := os.Lstat(path)
	if err != nil {
		return pathrule.Missing
	}
	return kindOf(info.Mode())
}

// Readlink implements pathrule.FS. A link through the data volume is one to the firmlink's other side, also when it is relative.
func (f *FS) Readlink(path string) string {
	text, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	whole := text
	if !filepath.IsAbs(text) {
		whole = filepath.Join(filepath.Dir(path), text)
	}
	if short, ok := profile.Canonical(whole); ok && short != whole {
		return short
	}
	return text
}

// apart are directories that are not searched: they hold devices, or show again what has been seen elsewhere.
var apart = []string{"/dev", "/.vol", "/System/Volumes", "/net"}

// ReadDir implements pathrule.FS.
func (f *FS) ReadDir(path string, visit func(name []byte, kind pathrule.Kind)) error {
	for _, dir := range apart {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return nil
		}
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		visit([]byte(e.Name()), kindOf(e.Type()))
	}
	return err
}

// ReadFile implements pathrule.FS.
func (f *FS) ReadFile(path string) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil
	}
	return data
}

// BornAfterStart implements pathrule.FS: Seatbelt cannot know, so nothing is.
func (f *FS) BornAfterStart(string) bool { return false }

// Real gives path as the disk spells it, and the length of the part that exists. The rest, and what lies in directories that cannot be
// listed, stays as it is.
func (f *FS) Real(path string) (real string, exists int) {
	if path == "/" {
		return path, 1
	}
	exists = 1
	there := true
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if there {
			if _, err := os.Lstat(real + "/" + name); err == nil {
				name = f.spelling(real+"/", name)
				exists = len(real) + 1 + len(name)
			} else {
				there = false
			}
		}
		real += "/" + name
	}
	return real, exists
}

// spelling finds how the disk spells name, which is in dir.
func (f *FS) spelling(dir, name string) string {
	names, ok := f.names[dir]
	if !ok {
		if d, err := os.Open(dir); err == nil {
			names, _ = d.Readdirnames(-1) // what cannot be listed stays as it was written
			d.Close()
		}
		f.names[dir] = names
	}
	found := name
	for _, n := range names {
		if n == name {
			return name
		}
		if strings.EqualFold(norm.NFC.String(n), norm.NFC.String(name)) {
			found = n
		}
	}
	return found
}

// Fresh says why path is not a directory that was made for this run alone: our own, closed to others, and empty.
func (f *FS) Fresh(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("is not a directory")
	case !ok || int(st.Uid) != os.Geteuid():
		return errors.New("belongs to somebody else")
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("is open to others (mode %04o)", info.Mode().Perm())
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if names, err := d.Readdirnames(1); len(names) > 0 || !errors.Is(err, io.EOF) {
		return errors.New("is not empty")
	}
	return nil
}

// Executable says why path cannot be executed by us; it follows links.
func (f *FS) Executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case info.Mode().Perm()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}
