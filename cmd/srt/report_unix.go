//go:build linux || darwin

package main

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// reportFile gets one line of JSON per decision, each by one write, so that several runs may share it. A nil one takes nothing.
type reportFile struct {
	path string
	fd   int
	err  error // the first failure
}

// openReport opens the file for appending. A command may have left a link of that name to something that srt can write and it
// cannot, so links are refused.
func openReport(path string) (*reportFile, error) {
	refuse := func(detail string) (*reportFile, error) {
		return nil, &wire.Fault{Code: wire.CodePolicy, Op: "open report", Path: path, Detail: detail}
	}
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP):
		return refuse("it is a symbolic link")
	case err != nil:
		return refuse(err.Error())
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 {
		unix.Close(fd)
		return refuse("it is no plain file of one name")
	}
	return &reportFile{path: path, fd: fd}, nil
}

func (r *reportFile) write(line []byte) {
	if r == nil || r.err != nil {
		return
	}
	if n, err := unix.Write(r.fd, line); err != nil {
		r.err = err
	} else if n < len(line) {
		r.err = unix.ENOSPC
	}
}

func (r *reportFile) close() error {
	if r == nil {
		return nil
	}
	if err := unix.Close(r.fd); r.err == nil {
		r.err = err
	}
	if r.err == nil {
		return nil
	}
	return &wire.Fault{Code: wire.CodeInternal, Op: "write report", Path: r.path, Detail: r.err.Error()}
}
