package channel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/srt-dev/srt/core/wire"
)

// piped carries messages over two pipes: each has four bytes of length (big endian) in front. There are no descriptors.
type piped struct {
	in  io.ReadCloser
	out io.WriteCloser
}

func newPiped(in io.ReadCloser, out io.WriteCloser) *piped { return &piped{in, out} }

func (p *piped) recv() ([]byte, []*os.File, error) {
	var head [4]byte
	if n, err := io.ReadFull(p.in, head[:]); err != nil {
		if n == 0 { // srt's end is closed, however the system says that
			err = io.EOF
		}
		return nil, nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > wire.MaxProxyPiped {
		return nil, nil, fmt.Errorf("a message of more than %d bytes", wire.MaxProxyPiped)
	}
	msg, err := io.ReadAll(io.LimitReader(p.in, int64(size))) // memory grows with what really comes
	if err == nil && len(msg) < int(size) {
		err = io.ErrUnexpectedEOF
	}
	return msg, nil, err
}

func (p *piped) limit() int { return wire.MaxProxyPiped }

func (p *piped) send(msg []byte) error {
	_, err := p.out.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(msg)), uint32(len(msg))), msg...))
	return err
}

func (p *piped) Close() error { return errors.Join(p.in.Close(), p.out.Close()) }
