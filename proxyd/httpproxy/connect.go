package httpproxy

import (
	"bytes"
	"net/http"

	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/near"
	"github.com/srt-dev/srt/proxyd/relay"
)

// established answers a CONNECT whose tunnel is there, in the version of the request.
var established = [2][]byte{[]byte("HTTP/1.0 200 Connection established\r\n\r\n"), []byte("HTTP/1.1 200 Connection established\r\n\r\n")}

// connect serves a CONNECT: it judges and dials before the client hears anything.
func (s *session) connect(r *request) {
	dest, ctx := r.target.dest, s.conn.Command.Context()
	permit, err := s.proxy.gate.Judge(ctx, s.who("connect"), dest)
	var link *egress.Link
	if err == nil {
		link, err = permit.Dial(ctx, egress.Tunnel)
	}
	if err != nil {
		replyFor(err, dest.String()).hangUp(s.conn)
		return
	}
	s.in.within(0)
	s.conn.Unread(bytes.Clone(s.in.take())) // what the client sent behind its CONNECT
	s.tunnelled = true
	if _, err := s.conn.Write(established[r.minor]); err != nil {
		s.conn.Close()
		link.Conn.Close()
		return
	}
	relay.Start(s.conn, link.Conn)
}

// Near opens the tunnel that said, the first bytes of a connection of cmd, asks for, when they are a whole CONNECT whose destination takes
// no waiting. False says nothing about them, and nothing was reported: they are for Serve.
func (p *Proxy) Near(cmd *client.Command, said []byte) (t near.Opened, ok bool) {
	end := bytes.Index(said, []byte("\r\n\r\n"))
	if end < 0 || said[0] != http.MethodConnect[0] || cmd.Guarded() || hopeless(said[:end+4]) != nil {
		return t, false
	}
	r, bad := parseRequest(said[:end+4])
	if bad != nil || r.method != http.MethodConnect {
		return t, false
	}
	t.Socket, ok = p.gate.Near(gate.Who{Command: cmd, Proto: "connect"}, r.target.dest)
	t.Answer, t.Early = established[r.minor], said[end+4:]
	return t, ok
}
