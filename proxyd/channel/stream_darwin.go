package channel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// stream is a SOCK_STREAM socket, because macOS has no SOCK_SEQPACKET for local sockets: each message has four bytes of length (big
// endian) in front, and its descriptors ride on the first of them.
type stream struct {
	*net.UnixConn
	oob []byte
}

func open(fd uintptr) (transport, error) {
	c, err := unixConn(fd, unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	return &stream{UnixConn: c, oob: make([]byte, unix.CmsgSpace(maxFiles*4))}, nil
}

func (s *stream) recv() (msg []byte, files []*os.File, err error) {
	var head [4]byte
	n, oobn, flags, _, err := s.ReadMsgUnix(head[:], s.oob)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, unix.ECONNRESET) {
			err = io.EOF
		}
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, io.EOF
	}
	if files, err = rights(s.oob[:oobn]); err != nil {
		return nil, files, err
	}
	if flags&unix.MSG_CTRUNC != 0 {
		return nil, files, fmt.Errorf("more than %d descriptors", maxFiles)
	}
	if _, err := io.ReadFull(s, head[n:]); err != nil {
		return nil, files, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > wire.MaxProxyMessage {
		return nil, files, fmt.Errorf("a message of more than %d bytes", wire.MaxProxyMessage)
	}
	msg = make([]byte, size)
	_, err = io.ReadFull(s, msg)
	return msg, files, err
}

func (s *stream) limit() int { return wire.MaxProxyMessage }

func (s *stream) send(msg []byte) error {
	_, err := s.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(msg)), uint32(len(msg))), msg...))
	return err
}
