package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"

	"github.com/elazarl/goproxy"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/relay"
)

// newTunnels makes the goproxy that serves CONNECT. It cannot dial, and it moves no bytes: each CONNECT brings the connection that the gate
// made for it, and becomes a relay, which costs two goroutines where a tunnel of goproxy costs three, and three system calls less.
func newTunnels() *goproxy.ProxyHttpServer {
	g := goproxy.NewProxyHttpServer()
	g.Logger = log.New(io.Discard, "", 0) // the gate records; these lines hold what a client sent
	g.Tr = &http.Transport{DialContext: noDial}
	g.ConnectDial, g.ConnectDialWithReq = nil, nil
	g.NonproxyHandler = http.NotFoundHandler()
	action := &goproxy.ConnectAction{Action: goproxy.ConnectHijack, Hijack: tunnel}
	g.OnRequest().HandleConnectFunc(func(host string, _ *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) { return action, host })
	return g
}

type upstreamKey struct{}

func noDial(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }

// tunnel answers a CONNECT whose upstream connection is there, and starts its relay.
func tunnel(r *http.Request, conn net.Conn, _ *goproxy.ProxyCtx) {
	up := r.Context().Value(upstreamKey{}).(egress.Conn)
	c := conn.(relay.Conn)
	if _, err := fmt.Fprintf(c, "HTTP/1.%d 200 Connection established\r\n\r\n", r.ProtoMinor); err != nil {
		c.Close()
		up.Close()
		return
	}
	relay.Start(c, up)
}

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
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: dest.String()}, Host: dest.String(), ProtoMajor: 1, ProtoMinor: r.minor,
		Header: http.Header{}}
	s.tunnelled = true
	s.proxy.tunnels.ServeHTTP(&hijacked{conn: s.conn}, req.WithContext(context.WithValue(context.Background(), upstreamKey{}, link.Conn)))
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
