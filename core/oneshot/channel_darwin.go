package oneshot

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// Pair makes the two ends of a channel, both close-on-exec. macOS has no SOCK_SEQPACKET for local sockets, and a SOCK_DGRAM end does
// not see the other close: it is a stream, each message has four bytes of length (big endian) in front, and descriptors ride on the
// first of them.
func Pair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, -1, err
	}
	for _, fd := range p {
		unix.CloseOnExec(fd)
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_NOSIGPIPE, 1); err != nil {
			return -1, -1, err
		}
	}
	return p[0], p[1], nil
}

func (c *Channel) send(b []byte, fds []int) error {
	frame := append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b))), b...)
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for len(frame) > 0 {
		var n int
		err := retry(c.fd, unix.POLLOUT, func() (err error) {
			n, err = unix.SendmsgN(c.fd, frame, oob, nil, 0)
			return err
		})
		if err != nil {
			return err
		}
		frame, oob = frame[n:], nil
	}
	return nil
}

func (c *Channel) recv() (b []byte, fds []int, err error) {
	var head [4]byte
	if fds, err = c.fill(head[:]); err != nil {
		return nil, fds, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if int64(n) > int64(c.limit) {
		return nil, fds, &wire.Fault{Code: wire.CodeTooLarge, Op: "read message", Detail: fmt.Sprintf("over %d bytes", c.limit)}
	}
	b = make([]byte, n)
	more, err := c.fill(b)
	return b, append(fds, more...), err
}

// fill reads exactly len(b) bytes and the descriptors that come with them.
func (c *Channel) fill(b []byte) (fds []int, err error) {
	for len(b) > 0 {
		oob := make([]byte, unix.CmsgSpace(4*maxFDs))
		var n, oobn, flags int
		err = retry(c.fd, unix.POLLIN, func() (err error) {
			n, oobn, flags, _, err = unix.Recvmsg(c.fd, b, oob, 0)
			return err
		})
		if err != nil {
			return fds, &wire.Fault{Code: wire.CodePeerGone, Op: "read message", Detail: err.Error()}
		}
		got, err := parseRights(oob[:oobn], flags)
		for _, fd := range got {
			unix.CloseOnExec(fd)
		}
		fds = append(fds, got...)
		if err != nil {
			return fds, err
		}
		if n == 0 {
			return fds, gone()
		}
		b = b[n:]
	}
	return fds, nil
}
