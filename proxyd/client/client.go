// Package client holds who is at the other end: a command and the connections that it made. Which listener a connection came in on says
// whose it is; nothing that a client sends can change that, and where others could reach the listener too, the command has to show a
// token beside. It must never judge or dial.
package client

import (
	"context"
	"crypto/subtle"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/srt-dev/srt/proxyd/acl"
	"github.com/srt-dev/srt/proxyd/breadth"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/relay"
)

// Command is one sandboxed command from Attach to Detach.
type Command struct {
	ID string

	token  string // "": nobody else can reach its listeners
	own    atomic.Pointer[acl.Lists]
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{} // one per open connection

	mu    sync.Mutex
	conns map[*Conn]struct{}
}

// User is the name that goes with a command's token.
const User = "srt"

// NewCommand starts the life of a command. token is what its clients have to show, "" nothing.
func NewCommand(id string, own *acl.Lists, token string) *Command {
	c := &Command{ID: id, token: token, slots: make(chan struct{}, limits.Connections), conns: make(map[*Conn]struct{})}
	c.own.Store(own)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Guarded says whether clients have to show a token.
func (c *Command) Guarded() bool { return c.token != "" }

// Admits says whether a client that calls itself user and shows password may be served. How long it takes tells nothing of the token.
func (c *Command) Admits(user, password string) bool {
	if !c.Guarded() {
		return true
	}
	right := subtle.ConstantTimeCompare([]byte(user), []byte(User)) & subtle.ConstantTimeCompare([]byte(password), []byte(c.token))
	return right == 1
}

// Own gives the command's own lists, or nil. Judge and dial by one answer: the next may be another.
func (c *Command) Own() *acl.Lists { return c.own.Load() }

// Assign replaces the command's own lists for judgements to come.
func (c *Command) Assign(own *acl.Lists) { c.own.Store(own) }

// Context ends with the command.
func (c *Command) Context() context.Context { return c.ctx }

// Close ends the command: every connection of it is closed, and with them their tunnels.
func (c *Command) Close() {
	c.cancel()
	c.mu.Lock()
	conns := c.conns
	c.conns = nil
	c.mu.Unlock()
	for conn := range conns {
		conn.Close()
	}
}

// Reserve waits until the command may have one more connection; false when the command is over. full is called when it has to wait.
func (c *Command) Reserve(full func()) bool {
	if c.TryReserve() {
		return c.ctx.Err() == nil
	}
	full()
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// TryReserve is Reserve without waiting: false when the command has as many connections as it may.
func (c *Command) TryReserve() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release gives back what Reserve took, when no connection came of it.
func (c *Command) Release() { <-c.slots }

// Conn is one connection of a command. It stays a *net.TCPConn inside, so that the kernel can move the bytes of a tunnel.
type Conn struct {
	*net.TCPConn
	Command *Command
	early   []byte // read already, not yet given out
	once    sync.Once
}

// Adopt makes c the owner of a connection that Reserve was called for; nil when the command is over (then conn is closed).
func (c *Command) Adopt(conn *net.TCPConn) *Conn {
	wrapped := &Conn{TCPConn: conn, Command: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		conn.Close()
		c.Release()
		return nil
	}
	c.conns[wrapped] = struct{}{}
	if len(c.conns) > limits.Narrow {
		breadth.Widen()
	}
	return wrapped
}

// Unread gives p back: it is what the next Read returns. p must not be changed any more.
func (c *Conn) Unread(p []byte) {
	if len(c.early) > 0 {
		p = append(p[:len(p):len(p)], c.early...)
	}
	c.early = p
}

// Early takes what was read already.
func (c *Conn) Early() []byte {
	p := c.early
	c.early = nil
	return p
}

// Read implements io.Reader.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.TCPConn.Read(p)
}

// WriteTo implements io.WriterTo: what was read already first, the rest as package relay moves it.
func (c *Conn) WriteTo(w io.Writer) (int64, error) {
	var n int64
	if early := c.Early(); len(early) > 0 {
		m, err := w.Write(early)
		if n = int64(m); err != nil {
			return n, err
		}
	}
	m, err := relay.Copy(w, c.TCPConn)
	return n + m, err
}

// Close implements io.Closer. It may be called more than once and from anywhere.
func (c *Conn) Close() error {
	err := c.TCPConn.Close()
	c.once.Do(func() {
		c.Command.mu.Lock()
		delete(c.Command.conns, c)
		c.Command.mu.Unlock()
		c.Command.Release()
	})
	return err
}
