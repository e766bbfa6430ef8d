package oneshot

import (
	"fmt"
	"sync"

	"github.com/srt-dev/srt/core/wire"
)

// Channel carries strict JSON messages with descriptors between two processes and keeps their borders: the channels of
// wire/control.go and wire/proxy.go. Send may be called from many goroutines, Recv from one at a time.
type Channel struct {
	fd      int
	limit   int        // bytes of one message, either way
	sending sync.Mutex // a message goes out whole: on a stream it may take several writes
}

// NewChannel takes ownership of descriptor fd, one end of a pair of Pair. limit is wire.MaxControlMessage or wire.MaxProxyMessage.
func NewChannel(fd, limit int) *Channel { return &Channel{fd: fd, limit: limit} }

// FD is the descriptor, for poll.
func (c *Channel) FD() int { return c.fd }

// Send sends one message of core/wire with copies of the descriptors fds, which stay the caller's. It blocks while the
// channel is full; the error is a *wire.Fault.
func (c *Channel) Send(v any, fds ...int) error {
	b, err := wire.Encode(v)
	if err != nil {
		return err
	}
	if len(b) > c.limit {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "send message",
			Detail: fmt.Sprintf("%d bytes, at most %d are accepted", len(b), c.limit)}
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.send(b, fds); err != nil {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "send message", Detail: err.Error()}
	}
	return nil
}

// Recv waits for one message, decodes it strictly into v and returns the descriptors that came with it (close-on-exec; the
// caller's; none when there is an error). The error is a *wire.Fault; CodePeerGone when the other end is closed.
func (c *Channel) Recv(v any) ([]int, error) {
	b, fds, err := c.recv()
	if err != nil {
		CloseAll(fds)
		return nil, err
	}
	if err := wire.Decode(b, c.limit, v); err != nil {
		CloseAll(fds)
		return nil, err
	}
	return fds, nil
}

func gone() error {
	return &wire.Fault{Code: wire.CodePeerGone, Op: "read message", Detail: "the peer closed the channel"}
}
