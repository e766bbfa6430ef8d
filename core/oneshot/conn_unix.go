//go:build linux || darwin

package oneshot

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// conn is srt's end of a request: a descriptor with one deadline for everything, waited for with poll(2) so that the Go scheduler
// need not wake another thread on the way to the command.
type conn struct {
	fd       int
	deadline time.Time
}

func newConn(fd int, limit time.Duration) (*conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return &conn{fd: fd, deadline: time.Now().Add(limit)}, nil
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.each(unix.POLLIN, func() (int, error) { return unix.Read(c.fd, b) })
	if n == 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := c.each(unix.POLLOUT, func() (int, error) { return unix.SendmsgN(c.fd, b[done:], nil, nil, sendFlags) })
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

func (c *conn) Close() error { return unix.Close(c.fd) }

func (c *conn) each(events int16, f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err == nil {
			return n, nil
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if !errors.Is(err, unix.EAGAIN) {
			return 0, err
		}
		left := time.Until(c.deadline)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: events}}, int(left.Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
	}
}
