package httpproxy

import (
	"io"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/srt-dev/srt/proxyd/limits"
)

// sender moves one request body to the origin while the response may already be coming.
type sender struct {
	origin *origin
	ahead  chan struct{} // closed when a waiting body may go
	once   sync.Once
	done   chan struct{}
	whole  bool // valid once done is closed: everything was sent
}

// send starts moving r's body. With "Expect: 100-continue" it waits for the origin's word, for a moment.
func send(o *origin, r *http.Request) *sender {
	s := &sender{origin: o, ahead: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		if r.Header.Get("Expect") != "" {
			timer := time.NewTimer(limits.Continue)
			defer timer.Stop()
			select {
			case <-s.ahead:
			case <-timer.C:
			case <-r.Context().Done():
				return
			}
		}
		clientErr, err := s.copy(r)
		s.whole = clientErr == nil && err == nil
		if clientErr != nil {
			o.conn.SetDeadline(time.Unix(1, 0)) // half a request must not stay open; an early answer to it is still read when the origin ended it
		}
	}()
	return s
}

// copy sends every piece as it comes. clientErr is that of reading the body, err that of sending it.
func (s *sender) copy(r *http.Request) (clientErr, err error) {
	var dst io.Writer = s.origin.out
	var chunked io.WriteCloser
	if len(r.TransferEncoding) > 0 {
		chunked = httputil.NewChunkedWriter(s.origin.out)
		dst = chunked
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := r.Body.Read(*buf)
		if n > 0 {
			if _, err := dst.Write((*buf)[:n]); err != nil {
				return nil, err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err, nil
		}
		if err := s.origin.out.Flush(); err != nil {
			return nil, err
		}
	}
	if chunked != nil {
		chunked.Close()
		r.Trailer.Write(s.origin.out)
		io.WriteString(s.origin.out, "\r\n")
	}
	return nil, s.origin.out.Flush()
}

// goAhead lets a body go that waits for "100 Continue". A nil sender has none.
func (s *sender) goAhead() {
	if s != nil {
		s.once.Do(func() { close(s.ahead) })
	}
}

// sent says whether the whole body is with the origin.
func (s *sender) sent() bool {
	if s == nil {
		return true
	}
	select {
	case <-s.done:
		return s.whole
	default:
		return false
	}
}

// stop ends a body that nobody wants any more, and waits for it.
func (s *sender) stop(x *exchange) {
	select {
	case <-s.done:
		return
	default:
	}
	s.origin.close()
	x.stopReading()
	s.goAhead()
	<-s.done
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, limits.CopyBuffer)) }}
