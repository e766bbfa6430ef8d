package httpproxy

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/limits"
)

// stream reads a connection through a small buffer that heads are parsed in. It never reads more than what is asked for needs, except
// what arrives together.
type stream struct {
	conn net.Conn
	buf  []byte
	r, w int // buf[r:w] was read and not used

	deadline time.Time // of reads; zero for none
}

const streamBuffer = 4 << 10

// adopt reads from c, with what was read from it before as the first buffer.
func (s *stream) adopt(c *client.Conn) {
	early := c.Early()
	s.conn, s.buf, s.w = c, early[:cap(early)], len(early)
}

func (s *stream) buffered() []byte { return s.buf[s.r:s.w] }

func (s *stream) skip(n int) {
	if s.r += n; s.r == s.w {
		s.r, s.w = 0, 0
		if len(s.buf) > streamBuffer {
			s.buf = nil // a large head is over
		}
	}
}

// take gives everything that was read and not used, and lets go of the buffer.
func (s *stream) take() []byte {
	b := s.buffered()
	s.buf, s.r, s.w = nil, 0, 0
	return b
}

// unread puts p, a copy of it, in front of what will be read. Nothing else may be buffered.
func (s *stream) unread(p []byte) {
	if len(p) > 0 {
		s.buf, s.r, s.w = bytes.Clone(p), 0, len(p)
	}
}

// fill reads once more. What buffered gave before is moved.
func (s *stream) fill() error {
	if s.w == len(s.buf) {
		size := len(s.buf)
		if s.w-s.r > size/2 || size == 0 {
			size = max(streamBuffer, 2*size)
		}
		buf := s.buf
		if size != len(s.buf) {
			buf = make([]byte, size)
		}
		s.w = copy(buf, s.buf[s.r:s.w])
		s.buf, s.r = buf, 0
	}
	n, err := s.conn.Read(s.buf[s.w:])
	s.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if s.r < s.w {
		n := copy(p, s.buffered())
		s.skip(n)
		return n, nil
	}
	return s.conn.Read(p)
}

// readRequest reads the next request head. The error is a *headError when the head is refused; io.EOF and others mean that the client
// has nothing more to say. idle is how long it may be silent before the head begins.
func (s *stream) readRequest(idle time.Duration) (*request, error) {
	for began := false; ; {
		for bytes.HasPrefix(s.buffered(), []byte("\r\n")) { // an empty line between requests (RFC 9112, 2.2)
			s.skip(2)
		}
		have := s.buffered()
		end := bytes.Index(have, []byte("\r\n\r\n"))
		if end >= 0 {
			have = have[:end+4]
		}
		if bad := hopeless(have); bad != nil {
			return nil, bad
		}
		if end >= 0 {
			if began {
				s.within(0)
			}
			r, bad := parseRequest(have)
			if bad != nil {
				return nil, bad
			}
			r.lines = bytes.Clone(r.lines) // the buffer moves on while the request is served
			s.skip(end + 4)
			return r, nil
		}
		switch {
		case len(have) == 0:
			s.within(idle)
		case !began:
			began = true
			s.within(0)
			s.within(limits.RequestHeader)
		}
		if err := s.fill(); err != nil {
			if began && os.IsTimeout(err) {
				return nil, &headError{Status: http.StatusRequestTimeout, Code: codeMalformed, Reason: "malformed request: its head took too long", Detail: "the request head took too long"}
			}
			return nil, err
		}
	}
}

// within bounds the reads to come: d, 0 for no bound. A bound that is still more than half of d away is left alone, because setting one
// for every request costs more than parsing it.
func (s *stream) within(d time.Duration) {
	if d == 0 {
		if !s.deadline.IsZero() {
			s.deadline = time.Time{}
			s.conn.SetReadDeadline(time.Time{})
		}
		return
	}
	if now := time.Now(); s.deadline.Sub(now) < d/2 {
		s.deadline = now.Add(d)
		s.conn.SetReadDeadline(s.deadline)
	}
}

// hopeless refuses a head before its end is there: one that is too long, and one that cannot become valid.
func hopeless(have []byte) *headError {
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
