package httpproxy

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/relay"
)

// guard stands between the socket and net/http's server, which accepts shapes of requests that must not pass (a length beside a
// transfer coding, folded lines, …) and hides what it read. The server gets the bytes of a head only when the whole head was checked,
// and never a byte behind the end of a request before the next head was checked too.
type guard struct {
	*client.Conn
	refuse  func(g *guard, head []byte, bad *headError) // answers and reports a refused head
	session *session                                    // set by net/http's server
	busy    atomic.Bool                                 // a request is being served: a refusal may not write between its bytes

	state  guardState
	buf    []byte // read from the socket, not given out
	base   []byte // where buf begins anew when it is empty
	ready  int    // bytes of buf that may be given out
	left   int64  // bytes of the body that are still to come
	chunks chunks
	timed  bool       // the read deadline is ours: a head has begun
	bad    *headError // why the connection ended, if we ended it
	err    error      // what every further Read returns

	mu      sync.Mutex
	targets []target // of the heads that were given out, until their handlers take them
}

type guardState uint8

const (
	inHead guardState = iota
	inBody
	inChunks
	inTunnel
)

// newGuard takes over c with what was read from it already.
func newGuard(c *client.Conn, refuse func(*guard, []byte, *headError)) *guard {
	return &guard{Conn: c, refuse: refuse, buf: c.Early()}
}

// Read implements io.Reader for net/http's server.
func (g *guard) Read(p []byte) (int, error) {
	if len(p) == 0 || g.err != nil {
		return 0, g.err
	}
	for {
		if g.ready > 0 {
			n := copy(p, g.buf[:g.ready])
			if g.buf, g.ready = g.buf[n:], g.ready-n; len(g.buf) == 0 {
				g.buf = g.base[:0]
			}
			return n, nil
		}
		switch g.state {
		case inHead:
			if err := g.head(); err != nil {
				return 0, err
			}
		case inTunnel:
			if len(g.buf) == 0 {
				return g.Conn.Read(p)
			}
			g.ready = len(g.buf)
		case inBody:
			if len(g.buf) == 0 {
				n, err := g.Conn.Read(p[:min(int64(len(p)), g.left)])
				g.consumed(int64(n))
				return n, err
			}
			n := min(int64(len(g.buf)), g.left)
			g.ready = int(n)
			g.consumed(n)
		case inChunks:
			if len(g.buf) == 0 {
				if err := g.fill(); err != nil {
					return 0, err
				}
			}
			n, done, bad := g.chunks.feed(g.buf)
			if bad != nil {
				return 0, g.fail(bad)
			}
			g.ready = n
			if done {
				g.state, g.chunks = inHead, chunks{}
			}
		}
	}
}

func (g *guard) consumed(n int64) {
	if g.left -= n; g.left == 0 {
		g.state = inHead
	}
}

// head collects the next head and checks it.
func (g *guard) head() error {
	for {
		for bytes.HasPrefix(g.buf, []byte("\r\n")) { // an empty line between requests (RFC 9112, 2.2)
			g.buf = g.buf[2:]
		}
		end := bytes.Index(g.buf, []byte("\r\n\r\n"))
		if bad := g.early(end); bad != nil {
			return g.fail(bad)
		}
		if end >= 0 {
			return g.checked(end + 4)
		}
		if len(g.buf) > 0 && !g.timed { // the server's own deadline is for silence, not for a head that has begun
			g.timed = true
			g.Conn.SetReadDeadline(time.Now().Add(limits.RequestHeader))
		}
		if err := g.fill(); err != nil {
			g.timed = false // the server may have woken us up and will ask again
			return err
		}
	}
}

// fill reads more behind buf.
func (g *guard) fill() error {
	if cap(g.buf)-len(g.buf) < 512 {
		g.buf = append(make([]byte, 0, max(2048, 2*len(g.buf))), g.buf...)
		g.base = g.buf
	}
	n, err := g.Conn.Read(g.buf[len(g.buf):cap(g.buf)])
	g.buf = g.buf[:len(g.buf)+n]
	if n > 0 {
		return nil
	}
	return err
}

// early refuses a head before its end is there: one that is too long, and one that cannot become valid.
func (g *guard) early(end int) *headError {
	have := g.buf
	if end >= 0 {
		have = g.buf[:end+4]
	}
	if len(have) > limits.RequestHead {
		return tooLarge("a head of more than %d bytes", limits.RequestHead)
	}
	if i := bytes.IndexByte(have, '\n'); i >= 0 && (i == 0 || have[i-1] != '\r') {
		return malformed("a bare line feed in the request head")
	}
	if i := bytes.IndexByte(have, '\r'); i >= 0 && i+1 < len(have) && have[i+1] != '\n' {
		return malformed("a bare carriage return in the request head")
	}
	if bytes.IndexByte(have, 0) >= 0 {
		return malformed("a NUL byte in the request head")
	}
	return nil
}

// checked lets the n bytes of a head pass, or refuses them.
func (g *guard) checked(n int) error {
	h, bad := checkHead(g.buf[:n])
	if bad != nil {
		return g.fail(bad)
	}
	if g.timed {
		g.timed = false
		g.Conn.SetReadDeadline(time.Time{})
	}
	g.mu.Lock()
	g.targets = append(g.targets, h.target)
	g.mu.Unlock()
	g.ready = n - g.hide(h)
	switch {
	case h.tunnel:
		g.state = inTunnel
	case h.chunked:
		g.state = inChunks
	case h.length > 0:
		g.state, g.left = inBody, h.length
	}
	return nil
}

// hide puts the placeholder where the target stands and moves the method up to it; it says by how much the head got shorter.
func (g *guard) hide(h requestHead) int {
	p := placeholder(h.tunnel)
	at := h.targetEnd - len(p)
	cut := at - h.targetAt
	method := string(g.buf[:h.targetAt])
	copy(g.buf[at:], p)
	copy(g.buf[cut:], method)
	g.buf = g.buf[cut:]
	return cut
}

// target takes the target of the oldest head that was given out.
func (g *guard) target() target {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.targets[0]
	g.targets = g.targets[1:]
	return t
}

// fail ends the connection. To the server it looks like the client's end of file, which it does not answer.
func (g *guard) fail(bad *headError) error {
	head := g.buf
	g.err, g.bad, g.buf, g.ready = io.EOF, bad, nil, 0
	g.refuse(g, head, bad)
	return g.err
}

// WriteTo implements io.WriterTo for the tunnel behind a CONNECT: what is left of our buffer, then the rest by the kernel.
func (g *guard) WriteTo(w io.Writer) (int64, error) {
	if g.state != inTunnel {
		return io.Copy(w, struct{ io.Reader }{g})
	}
	g.Unread(g.buf)
	g.buf, g.base, g.ready = nil, nil, 0
	return g.Conn.WriteTo(w)
}

// tunnel ends the reading of requests: early, which the server had read, comes first, then whatever the client sends.
func (g *guard) tunnel(early []byte) {
	g.state, g.buf, g.ready = inTunnel, append(bytes.Clone(early), g.buf...), 0
}

// Close implements io.Closer. A client that is still sending a body gets the time to read the answer.
func (g *guard) Close() error {
	if g.state == inBody || g.state == inChunks {
		relay.Linger(g.Conn)
	}
	return g.Conn.Close()
}
