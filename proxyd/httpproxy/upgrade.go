package httpproxy

import (
	"github.com/srt-dev/srt/proxyd/relay"
)

// switchTo passes a 101 on and becomes a relay. What either side sent behind its head goes first.
func (s *session) switchTo(o *origin, r *request, resp *response) {
	s.watch.stop()
	s.out = appendResponse(s.out[:0], r, resp, nothing)
	s.out = append(append(append(s.out, "Connection: Upgrade\r\nUpgrade: "...), resp.upgrade...), "\r\n\r\n"...)
	s.out = append(s.out, o.in.buffered()...)
	if _, err := s.conn.Write(s.out); err != nil {
		o.close()
		return
	}
	s.in.within(0)
	s.conn.Unread(s.in.take())
	s.out, o.in.buf = nil, nil // a tunnel holds no buffer
	relay.Both(s.conn, o.conn)
	o.close()
}
