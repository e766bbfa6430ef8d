package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"

	"github.com/elazarl/goproxy"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/relay"
)

// newTunnels makes the goproxy that carries tunnels. It cannot dial: each CONNECT brings the connection that the gate made for it.
func newTunnels() *goproxy.ProxyHttpServer {
	g := goproxy.NewProxyHttpServer()
	g.Logger = log.New(io.Discard, "", 0) // the gate records; these lines hold what a client sent
	g.Tr = &http.Transport{DialContext: noDial}
	g.ConnectDial, g.ConnectDialWithReq = nil, nil
	g.NonproxyHandler = http.NotFoundHandler()
	g.OnRequest().HandleConnectFunc(func(host string, ctx *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
		up := ctx.Req.Context().Value(upstreamKey{}).(egress.Conn)
		ctx.Dialer = func(context.Context, string, string) (net.Conn, error) { return up, nil }
		return &goproxy.ConnectAction{Action: goproxy.ConnectAccept}, host
	})
	return g
}

type upstreamKey struct{}

func noDial(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }

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
	w := &hijacked{conn: s.conn}
	s.tunnelled = true
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: dest.String()}, Host: dest.String(), ProtoMajor: 1, ProtoMinor: r.minor,
		Header: http.Header{}}
	s.proxy.tunnels.ServeHTTP(w, req.WithContext(context.WithValue(context.Background(), upstreamKey{}, link.Conn)))
}

// hijacked is the http.ResponseWriter of a CONNECT: all that can be done with it is to take the connection over.
type hijacked struct {
	conn relay.Conn
}

// Header implements http.ResponseWriter.
func (*hijacked) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (*hijacked) Write([]byte) (int, error) { return 0, http.ErrHijacked }

// WriteHeader implements http.ResponseWriter.
func (*hijacked) WriteHeader(int) {}

// Hijack implements http.Hijacker.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, &bufio.ReadWriter{}, nil
}
