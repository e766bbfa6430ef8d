package oneshot

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/srt-dev/srt/core/wire"
)

// Proxy is proxyd, started for one command, reached over its standard streams. It implements wire.Proxy.
type Proxy struct {
	*Conversation
	child   *child
	closing sync.Once
}

var _ wire.Proxy = (*Proxy)(nil)

// StartProxy starts the proxyd at path, an absolute path from Find. The caller must read Events until it is closed, and call Close.
func StartProxy(path string) (*Proxy, error) {
	c, err := startChild(path)
	if err != nil {
		return nil, err
	}
	return &Proxy{Conversation: Converse(path, &pipes{child: c}), child: c}, nil
}

// Kill ends proxyd at once; Close must still be called.
func (p *Proxy) Kill() { _ = p.child.process.Kill() }

// Close ends proxyd and waits for it. Events that it had sent before are still delivered.
func (p *Proxy) Close() error {
	p.closing.Do(func() {
		p.Kill()
		<-p.Done() // its end of the pipe is closed once it is gone
		p.child.end()
	})
	return nil
}

// pipes carries the conversation: each message has four bytes of length (big endian) in front.
type pipes struct {
	child   *child
	sending sync.Mutex
}

func (c *pipes) Send(cmd wire.ProxyCommand, fds ...int) error {
	if len(fds) > 0 {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "send message", Detail: errNoChannel.Error()}
	}
	b, err := wire.Encode(cmd)
	if err != nil {
		return err
	}
	if len(b) > wire.MaxProxyPiped {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "send message", Detail: fmt.Sprintf("%d bytes, at most %d are accepted", len(b), wire.MaxProxyPiped)}
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if _, err := c.child.in.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "send message", Detail: cause(err)}
	}
	return nil
}

func (c *pipes) Recv(e *wire.ProxyEvent) error {
	var head [4]byte
	if _, err := io.ReadFull(c.child.out, head[:]); err != nil {
		return gone()
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > wire.MaxProxyMessage {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "read message", Detail: fmt.Sprintf("over %d bytes", wire.MaxProxyMessage)}
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c.child.out, b); err != nil {
		return gone()
	}
	return wire.Decode(b, wire.MaxProxyMessage, e)
}

// Shutdown ends Recv: with its process the other end of its pipe is gone.
func (c *pipes) Shutdown() { _ = c.child.process.Kill() }
