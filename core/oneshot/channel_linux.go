package oneshot

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// Pair makes the two ends of a channel, both close-on-exec. It is a SOCK_SEQPACKET pair: the kernel keeps the borders.
func Pair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	return p[0], p[1], err
}

func (c *Channel) send(b []byte, fds []int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	return retry(c.fd, unix.POLLOUT, func() error { return unix.Sendmsg(c.fd, b, oob, nil, unix.MSG_NOSIGNAL) })
}

func (c *Channel) recv() (b []byte, fds []int, err error) {
	size := 0 // looked at first: a buffer for the largest message would cost every start a dozen pages
	err = retry(c.fd, unix.POLLIN, func() (err error) {
		size, _, err = unix.Recvfrom(c.fd, nil, unix.MSG_PEEK|unix.MSG_TRUNC)
		return err
	})
	if err != nil {
		return nil, nil, &wire.Fault{Code: wire.CodePeerGone, Op: "read message", Detail: err.Error()}
	}
	b = make([]byte, min(max(size, 1), c.limit))
	oob := make([]byte, unix.CmsgSpace(4*maxFDs))
	var n, oobn, flags int
	err = retry(c.fd, unix.POLLIN, func() (err error) {
		n, oobn, flags, _, err = unix.Recvmsg(c.fd, b, oob, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return nil, nil, &wire.Fault{Code: wire.CodePeerGone, Op: "read message", Detail: err.Error()}
	}
	fds, err = parseRights(oob[:oobn], flags)
	switch {
	case err != nil:
		return nil, fds, err
	case flags&unix.MSG_TRUNC != 0:
		return nil, fds, &wire.Fault{Code: wire.CodeTooLarge, Op: "read message", Detail: fmt.Sprintf("over %d bytes", c.limit)}
	case n == 0:
		return nil, fds, gone()
	}
	return b[:n], fds, nil
}
