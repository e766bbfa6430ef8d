package httpproxy

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/relay"
)

// exchange serves one plain request; it says whether the connection goes on.
func (s *session) exchange(r *request) (goOn bool) {
	s.watch.start()
	proto := "http"
	if r.upgrade != "" {
		proto = "upgrade"
	}
	permit, err := s.proxy.gate.Judge(s.ctx, s.who(proto), r.target.dest)
	if err != nil {
		return s.reply(r, replyFor(err, r.target.dest.String()))
	}
	for {
		o, reused, err := s.origin(permit, r.upgrade != "")
		if err != nil {
			return s.reply(r, replyFor(err, r.target.dest.String()))
		}
		resp, body, err := s.ask(o, r)
		if err == nil {
			return s.answer(o, r, resp, body)
		}
		heard := len(o.in.buffered()) > 0
		o.close()
		if body.cancel(); body != nil && body.bad != nil {
			s.proxy.gate.Malformed(s.who("http"), r.target.dest.String(), body.bad.Reason)
			return s.reply(r, replyFor(body.bad, ""))
		}
		if !reused || heard || !r.repeatable() || s.ctx.Err() != nil {
			return s.reply(r, replyFor(&egress.Failure{Kind: egress.BadAnswer, Err: err}, r.target.dest.String()))
		}
	}
}

// ask sends r and reads the head of its final response; informational ones are passed on. body is the request's body on its way, or nil.
func (s *session) ask(o *origin, r *request) (resp *response, body *sender, err error) {
	s.out = o.appendRequest(s.out[:0], r)
	if r.hasBody() {
		s.watch.stop() // the sender reads from the client
		if body, err = s.send(o, r); err != nil {
			return nil, body, err
		}
	} else if _, err := o.conn.Write(s.out); err != nil {
		return nil, nil, err
	}
	for {
		resp, err := readResponse(&o.in)
		switch {
		case err != nil:
			return nil, body, err
		case resp.status == http.StatusSwitchingProtocols:
			if r.upgrade == "" {
				return nil, body, errors.New("the protocol was changed unasked")
			}
			return resp, body, nil
		case resp.status >= 200:
			return resp, body, nil
		case r.minor > 0: // HTTP/1.0 does not know informational answers
			s.out = appendResponse(s.out[:0], r, resp, nothing)
			if _, err := s.conn.Write(append(s.out, "\r\n"...)); err != nil {
				return nil, body, err
			}
		}
	}
}

// answer relays a final response.
func (s *session) answer(o *origin, r *request, resp *response, body *sender) (goOn bool) {
	if resp.status == http.StatusSwitchingProtocols {
		s.switchTo(o, r, resp)
		return false
	}
	f := frame(r, resp)
	goOn = r.keepAlive && f != untilClose && body.sent() // what is left of a body would be taken for the next request
	s.out = appendResponse(s.out[:0], r, resp, f.drops)
	switch {
	case !goOn && r.minor > 0:
		s.out = append(s.out, "Connection: close\r\n"...)
	case goOn && r.minor == 0:
		s.out = append(s.out, "Connection: keep-alive\r\n"...)
	}
	s.out = append(s.out, "\r\n"...)
	err := s.relayBody(o, f, resp.length)
	finished := body.sent()
	if !finished {
		o.close()
		body.cancel()
	}
	s.watch.stop()
	switch {
	case err != nil:
		o.close()
		if f == untilClose || f == dechunked {
			s.conn.SetLinger(0) // only a reset tells the client that the body is not whole
		}
		return false
	case !finished:
		relay.Linger(s.conn)
	case resp.close || f == untilClose:
		o.close()
	default:
		s.idle = o
	}
	return goOn
}

// appendResponse appends the status line and the end-to-end headers of resp.
func appendResponse(b []byte, r *request, resp *response, drop func([]byte) bool) []byte {
	version := "HTTP/1.1 "
	if r.minor == 0 {
		version = "HTTP/1.0 "
	}
	b = append(append(append(b, version...), resp.phrase...), "\r\n"...)
	return appendEndToEnd(b, resp.lines, resp.named, drop)
}

// reply answers r by ourselves; it says whether the connection goes on.
func (s *session) reply(r *request, rep reply) (goOn bool) {
	s.watch.stop()
	goOn = r.keepAlive && !r.hasBody()
	s.out = rep.append(s.out[:0], "", r.minor, goOn)
	if r.method == http.MethodHead {
		s.out = s.out[:bytes.Index(s.out, []byte("\r\n\r\n"))+4]
	}
	s.conn.SetWriteDeadline(time.Now().Add(limits.Handshake))
	_, err := s.conn.Write(s.out)
	s.conn.SetWriteDeadline(time.Time{})
	if !goOn {
		relay.Linger(s.conn)
	}
	return goOn && err == nil
}
