package httpproxy

import (
	"io"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/srt-dev/srt/proxyd/breadth"
	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/limits"
)

// framing is how the client finds the end of a response body.
type framing uint8

const (
	noBody framing = iota
	byLength
	byChunks
	untilClose
	dechunked // for a client of HTTP/1.0: chunks taken apart, the end is the end of the connection
)

func frame(r *request, resp *response) framing {
	switch {
	case resp.bodiless(r.method):
		return noBody
	case resp.chunked && r.minor == 0:
		return dechunked
	case resp.chunked:
		return byChunks
	case resp.length == 0:
		return noBody
	case resp.length > 0:
		return byLength
	}
	return untilClose
}

// drops says which framing header does not go to the client: a length beside chunks means nothing, and chunks that were taken apart are
// none.
func (f framing) drops(name []byte) bool {
	return (f == byChunks || f == dechunked) && isLength(name) || f == dechunked && isCoding(name)
}

// bulk is how much of a body must be left for the kernel to move it.
const bulk = 4 * limits.CopyBuffer

var buffers = sync.Pool{New: func() any { return new([limits.CopyBuffer]byte) }}

// copyBuffer gives a buffer for a body that did not come whole with its head: that is work for more than one processor.
func copyBuffer() *[limits.CopyBuffer]byte {
	breadth.Widen()
	return buffers.Get().(*[limits.CopyBuffer]byte)
}

// relayBody sends s.out, a head, and behind it the body from o as it comes. What is there already goes out in one piece with the head.
func (s *session) relayBody(o *origin, f framing, length int64) error {
	switch f {
	case noBody:
		_, err := s.conn.Write(s.out)
		return err
	case byLength:
		return s.relayLength(o, length)
	case byChunks:
		return s.relayChunks(o)
	case dechunked:
		if _, err := s.conn.Write(s.out); err != nil {
			return err
		}
		return copyBody(s.conn, httputil.NewChunkedReader(&o.in))
	}
	s.out = append(s.out, o.in.buffered()...)
	o.in.skip(len(o.in.buffered()))
	if _, err := s.conn.Write(s.out); err != nil {
		return err
	}
	_, err := io.Copy(s.conn, o.conn) // by the kernel where it can
	return err
}

func (s *session) relayLength(o *origin, length int64) error {
	have := o.in.buffered()
	have = have[:min(int64(len(have)), length)]
	s.out = append(s.out, have...)
	o.in.skip(len(have))
	if _, err := s.conn.Write(s.out); err != nil {
		return err
	}
	left := length - int64(len(have))
	if left == 0 {
		return nil
	}
	var n int64
	var err error
	if tcp, ok := o.conn.(egress.TCP); ok && left >= bulk {
		breadth.Widen()
		n, err = s.conn.TCPConn.ReadFrom(&io.LimitedReader{R: tcp.TCPConn, N: left}) // by the kernel where it can
	} else {
		buf := copyBuffer()
		defer buffers.Put(buf)
		n, err = io.CopyBuffer(writerOnly{s.conn}, io.LimitReader(o.conn, left), buf[:])
	}
	if err == nil && n < left {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (s *session) relayChunks(o *origin) error {
	c := chunks{lenient: true}
	have := o.in.buffered()
	n, done, bad := c.feed(have)
	s.out = append(s.out, have[:n]...)
	o.in.skip(n)
	if _, err := s.conn.Write(s.out); err != nil {
		return err
	}
	buf := copyBuffer()
	defer buffers.Put(buf)
	for !done && bad == nil {
		m, err := o.conn.Read(buf[:])
		n, done, bad = c.feed(buf[:m])
		if _, err := s.conn.Write(buf[:n]); err != nil {
			return err
		}
		if err != nil && !done {
			return io.ErrUnexpectedEOF
		}
	}
	if bad != nil {
		return bad
	}
	return nil
}

// copyBody moves src piece by piece.
func copyBody(dst io.Writer, src io.Reader) error {
	buf := copyBuffer()
	defer buffers.Put(buf)
	_, err := io.CopyBuffer(writerOnly{dst}, src, buf[:])
	return err
}

// writerOnly hides a ReadFrom that would bring its own buffer.
type writerOnly struct{ io.Writer }

// sender moves one request body to the origin while the response may already be coming.
type sender struct {
	session *session
	done    chan struct{}
	ending  atomic.Bool // the last piece is being sent
	whole   bool        // valid once done is closed: everything was sent
	bad     *headError  // the same: the body was not what its framing promised
}

// send sends s.out, a head, and behind it the body of r as it comes. A body that is there already goes out in one piece with the head,
// without a goroutine.
func (s *session) send(o *origin, r *request) (*sender, error) {
	b := &sender{session: s, done: make(chan struct{})}
	left, c := r.length, chunks{}
	have := s.in.buffered()
	var n int
	if r.chunked {
		n, b.whole, b.bad = c.feed(have)
	} else {
		n = int(min(int64(len(have)), left))
		left -= int64(n)
		b.whole = left == 0
	}
	if b.bad != nil { // nothing of such a request reaches the origin
		close(b.done)
		return b, b.bad
	}
	s.out = append(s.out, have[:n]...)
	s.in.skip(n)
	if _, err := o.conn.Write(s.out); b.whole || err != nil {
		b.whole = err == nil
		close(b.done)
		s.watch.start()
		return b, err
	}
	s.in.within(0)
	go b.run(o, r.chunked, left, c)
	return b, nil
}

func (b *sender) run(o *origin, chunked bool, left int64, c chunks) {
	defer close(b.done)
	s := b.session
	buf := copyBuffer()
	defer buffers.Put(buf)
	for !b.whole {
		p := buf[:]
		if !chunked {
			p = p[:min(int64(len(p)), left)]
		}
		m, _ := s.conn.Read(p)
		n := m
		if chunked {
			n, b.whole, b.bad = c.feed(p[:m])
			s.in.unread(p[n:m])
		} else {
			left -= int64(m)
			b.whole = left == 0
		}
		if m == 0 || b.bad != nil {
			o.conn.SetDeadline(time.Unix(1, 0)) // half a request must not stay open
			return
		}
		b.ending.Store(b.whole)
		if _, err := o.conn.Write(p[:n]); err != nil { // the origin wants no more; its answer may be there all the same
			b.whole = false
			return
		}
	}
	s.watch.start()
}

// overtaken is how long the end of a body may take to be noticed here when the origin has answered already. An origin that answers early
// and reads no more would hold it up for ever.
const overtaken = time.Second

// sent says whether the whole body is with the origin. A nil sender has nothing to send.
func (b *sender) sent() bool {
	if b == nil {
		return true
	}
	select {
	case <-b.done:
		return b.whole
	default:
	}
	if !b.ending.Load() {
		return false
	}
	select {
	case <-b.done:
		return b.whole
	case <-time.After(overtaken):
		return false
	}
}

// cancel ends a body that nobody wants any more, and waits for it. The origin connection has to be closed before.
func (b *sender) cancel() {
	if b == nil {
		return
	}
	select {
	case <-b.done:
		return
	default:
	}
	b.session.conn.SetReadDeadline(time.Unix(1, 0))
	<-b.done
	b.session.conn.SetReadDeadline(time.Time{})
}
