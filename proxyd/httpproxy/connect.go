package httpproxy

import (
	"context"
	"net"
	"net/http"

	"github.com/elazarl/goproxy"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/relay"
)

// connect judges and dials a CONNECT before the client hears anything; goproxy then carries the tunnel over the connection made here.
func (p *Proxy) connect(_ string, ctx *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
	r := ctx.Req
	s := sessionOf(r)
	dest := s.guard.target().dest
	permit, err := p.gate.Judge(r.Context(), s.who("connect"), dest)
	if err != nil {
		return hangUp(replyFor(err, dest.String()))
	}
	link, err := permit.Dial(r.Context(), egress.Tunnel)
	if err != nil {
		return hangUp(replyFor(err, dest.String()))
	}
	s.link = link
	ctx.Dialer = func(context.Context, string, string) (net.Conn, error) {
		s.link = nil
		return link.Conn, nil
	}
	return &goproxy.ConnectAction{Action: goproxy.ConnectAccept}, dest.String()
}

// hangUp answers a CONNECT by ourselves: goproxy has no way to send a status phrase and then wait for the client to read it.
func hangUp(rep reply) (*goproxy.ConnectAction, string) {
	return &goproxy.ConnectAction{Action: goproxy.ConnectHijack, Hijack: func(_ *http.Request, c net.Conn, _ *goproxy.ProxyCtx) {
		rep.hangUp(c.(relay.Conn))
	}}, ""
}
