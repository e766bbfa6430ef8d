package httpproxy

import (
	"context"
	"net/http"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
)

// origin is a connection to an origin, or to an upstream proxy that takes plain requests. It belongs to one session and serves one
// request at a time, so no command ever gets an answer on another's connection.
type origin struct {
	conn    egress.Conn
	via     *egress.Via
	permit  *gate.Permit
	in      stream
	release func() bool // of the session's end
}

// origin gives the connection for permit: the idle one when it leads there and is still open, else a new one. One that may become a
// tunnel never speaks to an upstream proxy itself: a proxy that took the 101 for one more informational answer would read requests out of
// the tunnel's bytes, which nobody judged.
func (s *session) origin(permit *gate.Permit, tunnel bool) (o *origin, reused bool, err error) {
	if o, s.idle = s.idle, nil; o != nil {
		if permit.Same(o.permit) && !(tunnel && o.via != nil) && len(o.in.buffered()) == 0 && quiet(o.conn) {
			return o, true, nil
		}
		o.close()
	}
	kind := egress.Plain
	if tunnel {
		kind = egress.Tunnel
	}
	link, err := permit.Dial(s.ctx, kind)
	if err != nil {
		return nil, false, err
	}
	o = &origin{conn: link.Conn, via: link.Via, permit: permit, in: stream{conn: link.Conn}}
	o.release = context.AfterFunc(s.ctx, func() { o.conn.Close() })
	return o, false, nil
}

func (o *origin) close() {
	o.release()
	o.conn.Close()
}

// appendRequest appends the head of r as the next hop takes it.
func (o *origin) appendRequest(b []byte, r *request) []byte {
	b = append(append(b, r.method...), ' ')
	if o.via != nil {
		b = append(b, r.target.absolute()...)
	} else {
		b = append(b, r.target.path...)
	}
	b = append(append(append(b, " HTTP/1.1\r\nHost: "...), r.target.hostHeader()...), "\r\n"...)
	if o.via != nil && o.via.Authorization != "" {
		b = append(append(append(b, "Proxy-Authorization: "...), o.via.Authorization...), "\r\n"...)
	}
	b = appendEndToEnd(b, r.lines, r.named, isHost)
	switch {
	case r.upgrade != "":
		b = append(append(append(b, "Connection: Upgrade\r\nUpgrade: "...), r.upgrade...), "\r\n"...)
	case r.trailers:
		b = append(b, "Connection: TE\r\nTE: trailers\r\n"...)
	}
	return append(b, "\r\n"...)
}

// repeatable says whether a request may be sent again when its connection ended without an answer (RFC 9110, 9.2.2).
func (r *request) repeatable() bool {
	switch r.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return !r.hasBody()
	}
	return false
}
