package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/limits"
)

// origin is a connection to an origin, or to an upstream proxy that takes plain requests. It belongs to one client connection and
// serves one request at a time, so no command ever gets an answer on another's connection.
type origin struct {
	conn   egress.Conn
	via    *egress.Via
	permit *gate.Permit
	in     *bufio.Reader
	out    *bufio.Writer
	budget int64  // bytes that may still be read while a head is awaited
	heard  bool   // something of the current answer arrived
	raw    []byte // of the heads of the current answer, as far as they were not read ahead
}

// origin gives the connection for permit: the idle one when it leads there and is still open, else a new one.
func (s *session) origin(ctx context.Context, permit *gate.Permit) (o *origin, reused bool, err error) {
	if o, s.idle = s.idle, nil; o != nil {
		if permit.Same(o.permit) && o.in.Buffered() == 0 && quiet(o.conn) {
			return o, true, nil
		}
		o.close()
	}
	link, err := permit.Dial(ctx, egress.Plain)
	if err != nil {
		return nil, false, err
	}
	return newOrigin(link, permit), false, nil
}

func newOrigin(link *egress.Link, permit *gate.Permit) *origin {
	o := &origin{conn: link.Conn, via: link.Via, permit: permit, out: bufio.NewWriter(link.Conn)}
	o.in = bufio.NewReader(o)
	return o
}

func (o *origin) close() { o.conn.Close() }

// Read implements io.Reader under the budget for heads; net/http has no bound for those of a response.
func (o *origin) Read(p []byte) (int, error) {
	if o.budget <= 0 {
		return 0, fmt.Errorf("the head of the response is longer than %d bytes", limits.ResponseHead)
	}
	n, err := o.conn.Read(p[:min(int64(len(p)), o.budget)])
	o.budget -= int64(n)
	o.heard = o.heard || n > 0
	if o.budget < math.MaxInt64/2 {
		o.raw = append(o.raw, p[:n]...)
	}
	return n, err
}

// connection gives the values of the Connection headers of the heads that were read last; net/http forgets them when one says "close".
func (o *origin) connection() (values []string) {
	for line := range bytes.Lines(o.raw) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Connection")) {
			values = append(values, string(bytes.TrimSpace(value)))
		}
	}
	return values
}

// roundTrip sends r and reads the head of the final response; other answers are passed on as they come.
func (x *exchange) roundTrip(o *origin, r *http.Request) (*http.Response, error) {
	o.heard, o.raw, x.from = false, o.raw[:0], o
	release := context.AfterFunc(r.Context(), func() { o.conn.SetDeadline(time.Unix(1, 0)) }) // the client is gone
	if err := o.writeHead(x, r); err != nil {
		release()
		return nil, err
	}
	if r.Body != http.NoBody {
		x.sender = send(o, r)
	}
	o.budget = limits.ResponseHead
	for {
		resp, err := http.ReadResponse(o.in, r)
		if err != nil {
			release()
			return nil, err
		}
		switch code := resp.StatusCode; {
		case code == http.StatusSwitchingProtocols:
			if !release() || x.protocol == "" || upgrades(resp.Header) == "" {
				return nil, errors.New("the protocol was changed unasked")
			}
			return resp, nil
		case code == http.StatusContinue:
			x.sender.goAhead()
		case code < 200:
			x.informational(resp)
		default:
			o.budget = math.MaxInt64
			if resp.Close {
				resp.Header["Connection"] = o.connection()
			}
			x.sender.goAhead()
			resp.Body = &originBody{ReadCloser: resp.Body, origin: o, exchange: x, release: release, last: resp.Close}
			return resp, nil
		}
	}
}

// writeHead writes r's head in the form that the next hop takes.
func (o *origin) writeHead(x *exchange, r *http.Request) error {
	w := o.out
	uri := x.target.path
	if o.via != nil {
		uri = x.target.absolute()
	}
	w.WriteString(r.Method + " " + uri + " HTTP/1.1\r\nHost: " + x.target.hostHeader() + "\r\n")
	if o.via != nil && o.via.Authorization != "" {
		w.WriteString("Proxy-Authorization: " + o.via.Authorization + "\r\n")
	}
	drop := dropped(r.Header)
	_, hasLength := r.Header["Content-Length"]
	r.Header.WriteSubset(w, drop) // without Host: net/http keeps that one apart
	if x.protocol == "" && hasToken(r.Header, "Te", "trailers") {
		w.WriteString("Te: trailers\r\nConnection: Te\r\n")
	}
	if x.protocol != "" {
		w.WriteString("Connection: Upgrade\r\nUpgrade: " + x.protocol + "\r\n")
	}
	switch {
	case len(r.TransferEncoding) > 0:
		if len(r.Trailer) > 0 {
			keys := make([]string, 0, len(r.Trailer))
			for k := range r.Trailer {
				keys = append(keys, k)
			}
			w.WriteString("Trailer: " + strings.Join(keys, ", ") + "\r\n")
		}
		w.WriteString("Transfer-Encoding: chunked\r\n")
	case !hasLength && r.ContentLength > 0:
		w.WriteString("Content-Length: " + strconv.FormatInt(r.ContentLength, 10) + "\r\n")
	}
	w.WriteString("\r\n")
	return w.Flush()
}

// originBody is a response body. When it was read to its end the connection may serve the session again.
type originBody struct {
	io.ReadCloser
	origin   *origin
	exchange *exchange
	release  func() bool
	last     bool // the origin closes the connection behind this response
	ended    bool
}

// Read implements io.Reader.
func (b *originBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF && !b.ended:
		b.ended = true
		alive := b.release() // false: the client went away meanwhile
		if s := b.exchange.session; alive && !b.last && !b.exchange.last && b.exchange.sender.sent() && s.idle == nil {
			s.idle = b.origin
		} else {
			b.origin.close()
		}
	case err != nil && err != io.EOF:
		b.exchange.broken = err
	}
	return n, err
}

// Close implements io.Closer.
func (b *originBody) Close() error {
	if !b.ended {
		b.ended = true
		b.release()
		b.origin.close()
	}
	return nil
}
