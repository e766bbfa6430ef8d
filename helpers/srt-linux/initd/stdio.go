package initd

import (
	"fmt"
	"os"
	"strconv"

	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// A stream is a standard stream that is a regular file open for reading only. It is opened again in the sandbox's own view, because
// the caller's descriptor belongs to a mount of the host, where /proc/self/fd/N could reopen it for writing.
type stream struct {
	fd   int
	path string
	stat unix.Stat_t
}

var streamNames = [...]string{"standard input", "standard output", "standard error"}

// checkStreams refuses streams that carry a way around the mounts and lists those that must be opened again.
func checkStreams() ([]stream, error) {
	var again []stream
	for fd, name := range streamNames {
		s := stream{fd: fd}
		if err := unix.Fstat(fd, &s.stat); err != nil {
			return nil, &wire.Fault{Code: wire.CodeInternal, Op: "check", Path: name, Detail: err.Error()}
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return nil, &wire.Fault{Code: wire.CodeInternal, Op: "check", Path: name, Detail: err.Error()}
		}
		refuse := func(what string) error {
			return &wire.Fault{Code: wire.CodePolicy, Op: "accept", Path: name, Detail: what + " would be a way around the file policy",
				Hint: "redirect it from or to a file, a pipe or /dev/null"}
		}
		switch {
		case s.stat.Mode&unix.S_IFMT == unix.S_IFDIR:
			return nil, refuse("a directory")
		case flags&unix.O_PATH != 0:
			return nil, refuse("an O_PATH descriptor")
		case flags&unix.O_ACCMODE == unix.O_RDONLY && reopensForWriting(s):
			return nil, refuse("a device that is open for reading only (its node can be opened again for writing)")
		case s.stat.Mode&unix.S_IFMT != unix.S_IFREG || flags&unix.O_ACCMODE != unix.O_RDONLY || s.stat.Nlink == 0:
			continue // a file without a name leads nowhere
		}
		if s.path, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err != nil {
			return nil, &wire.Fault{Code: wire.CodeInternal, Op: "check", Path: name, Detail: err.Error()}
		}
		again = append(again, s)
	}
	return again, nil
}

// memDevices are the minor numbers of major 1 that store nothing: null, zero, full, random, urandom.
var memDevices = map[uint32]bool{3: true, 5: true, 7: true, 8: true, 9: true}

// reopensForWriting says whether the stream is a device that /proc/self/fd would open with more rights than it has. A terminal is the
// command's own, and the memory devices keep nothing.
func reopensForWriting(s stream) bool {
	switch s.stat.Mode & unix.S_IFMT {
	case unix.S_IFBLK:
		return true
	case unix.S_IFCHR:
		_, err := unix.IoctlGetTermios(s.fd, unix.TCGETS)
		return err != nil && (unix.Major(s.stat.Rdev) != 1 || !memDevices[unix.Minor(s.stat.Rdev)])
	}
	return false
}

// A cursor is a stream that was opened again, beside the caller's own.
type cursor struct {
	ours, callers int // descriptors
	from          int64
}

// giveBack sets the caller's stream to where the command left off reading, as if it had read that one: the next program of a script that
// shares it reads on from there. A stream that was not read from is left alone; another of the three may be the same of the caller's.
func (c cursor) giveBack() {
	if at, err := unix.Seek(c.ours, 0, unix.SEEK_CUR); err == nil && at != c.from {
		_, _ = unix.Seek(c.callers, at, unix.SEEK_SET)
	}
}

// reopen opens s in the finished view: the same inode, at the same offset.
func (s stream) reopen() (cursor, error) {
	c := cursor{ours: -1, callers: -1}
	var err error
	c.ours, err = unix.Open(s.path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err == nil {
		var st unix.Stat_t
		if err = unix.Fstat(c.ours, &st); err == nil && (st.Ino != s.stat.Ino || st.Dev != s.stat.Dev) {
			err = fmt.Errorf("%s is another file there", s.path)
		}
	}
	if err != nil {
		return c, &wire.Fault{Code: wire.CodePolicy, Op: "open " + streamNames[s.fd] + " in the sandbox", Path: s.path, Detail: err.Error(),
			Hint: "the policy hides this file; send it through a pipe: cat FILE | srt …"}
	}
	for _, step := range []func() error{
		func() (err error) { c.from, err = unix.Seek(s.fd, 0, unix.SEEK_CUR); return err },
		func() error { _, err := unix.Seek(c.ours, c.from, unix.SEEK_SET); return err },
		func() error { _, err := unix.FcntlInt(uintptr(c.ours), unix.F_SETFL, 0); return err },
		func() (err error) { c.callers, err = unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 3); return err },
		func() error { return unix.Dup2(c.ours, s.fd) },
	} {
		if err := step(); err != nil {
			return c, &wire.Fault{Code: wire.CodeInternal, Op: "open again", Path: s.path, Detail: err.Error()}
		}
	}
	return c, nil
}
