package httpproxy

import (
	"context"
	"errors"
	"net/http"

	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/limits"
)

// Proxy serves HTTP.
type Proxy struct {
	gate *gate.Gate
}

// New makes a Proxy that judges and dials through g.
func New(g *gate.Gate) *Proxy {
	return &Proxy{gate: g}
}

// session is one client connection with what it keeps between its requests.
type session struct {
	proxy  *Proxy
	conn   *client.Conn
	ctx    context.Context // of plain requests: ends with the command, and when the client is seen to be gone
	cancel context.CancelFunc
	in     stream  // from the client
	idle   *origin // to be used again
	watch  watch
	out    []byte // scratch for heads

	tunnelled bool // the connection lives on without the session
}

// Serve speaks HTTP on c until one side has enough, and closes it, unless it became a tunnel that lives on.
func (p *Proxy) Serve(c *client.Conn) {
	s := &session{proxy: p, conn: c}
	s.in.adopt(c)
	defer s.end()
	for idle := limits.FirstByte; ; idle = limits.KeepAlive {
		r, err := s.in.readRequest(idle)
		if bad, ok := errors.AsType[*headError](err); ok {
			s.refuseHead(bad)
			return
		}
		if err != nil {
			return
		}
		if s.conn.Command.Guarded() && !s.conn.Command.Admits(r.credentials()) {
			if !s.reply(r, strangerReply) {
				return
			}
			continue
		}
		if r.method == http.MethodConnect {
			s.connect(r)
			return
		}
		if s.ctx == nil {
			s.ctx, s.cancel = context.WithCancel(c.Command.Context())
			s.watch.session = s
		}
		if !s.exchange(r) {
			return
		}
	}
}

// end closes what the session holds.
func (s *session) end() {
	if s.ctx != nil {
		s.watch.stop()
		s.cancel() // closes an idle origin connection, too
	}
	if !s.tunnelled {
		s.conn.Close()
	}
}

// refuseHead answers and reports a request head that must not pass.
func (s *session) refuseHead(bad *headError) {
	s.proxy.gate.Malformed(s.who("http"), headTarget(s.in.buffered()), bad.Reason)
	replyFor(bad, "").hangUp(s.conn)
}

func (s *session) who(proto string) gate.Who {
	return gate.Who{Command: s.conn.Command, Proto: proto}
}
