//go:build unix && !darwin

package channel

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// seqpacket is a SOCK_SEQPACKET socket: the kernel keeps the borders of messages.
type seqpacket struct {
	*net.UnixConn
	buf []byte
	oob []byte
}

func open(fd uintptr) (transport, error) {
	c, err := unixConn(fd, unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	return &seqpacket{UnixConn: c, buf: make([]byte, wire.MaxProxyMessage+1), oob: make([]byte, unix.CmsgSpace(maxFiles*4))}, nil
}

func (s *seqpacket) recv() ([]byte, []*os.File, error) {
	n, oobn, flags, _, err := s.ReadMsgUnix(s.buf, s.oob)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, unix.ECONNRESET) {
			err = io.EOF
		}
		return nil, nil, err
	}
	files, err := rights(s.oob[:oobn])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = fmt.Errorf("a message of more than %d bytes or %d descriptors", wire.MaxProxyMessage, maxFiles)
	}
	return s.buf[:n], files, err
}

func (s *seqpacket) limit() int { return wire.MaxProxyMessage }

func (s *seqpacket) send(msg []byte) error {
	_, err := s.Write(msg)
	return err
}
