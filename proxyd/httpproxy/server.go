package httpproxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"

	"github.com/elazarl/goproxy"

	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/limits"
)

// Proxy serves HTTP on the connections of all commands.
type Proxy struct {
	gate   *gate.Gate
	engine *goproxy.ProxyHttpServer
	server *http.Server
	queue  *queue
}

// New makes a Proxy that judges and dials through g, and starts serving what Serve brings.
func New(g *gate.Gate) *Proxy {
	p := &Proxy{gate: g, queue: newQueue()}
	silent := log.New(io.Discard, "", 0) // what matters is recorded by the gate; these lines hold what a client sent
	e := goproxy.NewProxyHttpServer()
	e.Logger = silent
	e.Tr = &http.Transport{DialContext: noDial} // never used; the default one skips certificates and reads the environment
	e.ConnectDial, e.ConnectDialWithReq = nil, nil
	e.KeepAcceptEncoding = true
	e.KeepHeader = true // origin.go decides what goes upstream
	e.NonproxyHandler = http.HandlerFunc(notProxy)
	e.OnRequest().HandleConnectFunc(p.connect)
	e.OnRequest().DoFunc(p.admit)
	e.OnResponse().DoFunc(p.answer)
	p.engine = e
	p.server = &http.Server{
		Handler:                      http.HandlerFunc(p.serve),
		ReadHeaderTimeout:            limits.RequestHeader,
		IdleTimeout:                  limits.KeepAlive,
		MaxHeaderBytes:               2 * limits.RequestHead, // guard is first
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     silent,
		ConnContext:                  connContext,
		ConnState:                    connState,
	}
	go p.server.Serve(p.queue)
	return p
}

// Serve takes over a connection whose first bytes look like HTTP.
func (p *Proxy) Serve(c *client.Conn) {
	g := newGuard(c, p.refuseHead)
	if !p.queue.put(g) {
		c.Close()
	}
}

// Close ends the server and every connection that it has in hand.
func (p *Proxy) Close() error { return p.server.Close() }

// session is what one client connection keeps between its requests.
type session struct {
	guard *guard
	idle  *origin      // to be used again
	link  *egress.Link // of a CONNECT, until goproxy has it
}

type sessionKey struct{}

func connContext(ctx context.Context, c net.Conn) context.Context {
	g := c.(*guard)
	g.session = &session{guard: g}
	return context.WithValue(ctx, sessionKey{}, g.session)
}

func sessionOf(r *http.Request) *session { return r.Context().Value(sessionKey{}).(*session) }

func (s *session) who(proto string) gate.Who {
	return gate.Who{Command: s.guard.Command, Proto: proto}
}

// connState follows net/http's server, which calls it in the goroutine that serves the connection.
func connState(c net.Conn, state http.ConnState) {
	g := c.(*guard)
	g.busy.Store(state == http.StateActive)
	if state == http.StateClosed || state == http.StateHijacked {
		if g.session != nil && g.session.idle != nil {
			g.session.idle.conn.Close()
			g.session.idle = nil
		}
	}
}

func noDial(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }

// queue hands connections to net/http's server, which wants to accept them from a listener.
type queue struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newQueue() *queue { return &queue{conns: make(chan net.Conn), done: make(chan struct{})} }

func (q *queue) put(c net.Conn) bool {
	select {
	case q.conns <- c:
		return true
	case <-q.done:
		return false
	}
}

// Accept implements net.Listener.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// Addr implements net.Listener.
func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }
