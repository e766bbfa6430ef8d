package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"github.com/srt-dev/srt/proxyd/limits"
)

// through opens a connection by way of r. The name goes to the proxy as it is: resolving is the proxy's business there.
func (d *Dialer) through(ctx context.Context, r *route, t Target) (*Link, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.Upstream)
	defer cancel()
	link := &Link{Route: r.name}
	if r.socks {
		conn, err := d.socksConnect(ctx, r, t)
		if err != nil {
			return nil, err
		}
		link.Conn = halfClosable(conn)
		return link, nil
	}
	conn, err := d.upstream(ctx, r.network, r.addr)
	if err != nil {
		return nil, &Failure{Kind: UpstreamDown, Err: err}
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if r.tlsName != "" {
		secure := tls.Client(conn, &tls.Config{ServerName: r.tlsName, RootCAs: d.roots})
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, &Failure{Kind: UpstreamDown, Err: fmt.Errorf("TLS with the parent proxy: %w", err)}
		}
		conn = &halfCloser{Conn: secure}
	}
	if t.Kind == Plain {
		link.Via = &Via{Authorization: r.authorization}
	} else if conn, err = connectVia(conn, r, t); err != nil {
		return nil, err
	}
	link.Conn = halfClosable(conn)
	if !stop() { // the time ran out while the last bytes came in
		link.Conn.Close()
		return nil, &Failure{Kind: UpstreamTimeout, Err: context.Cause(ctx)}
	}
	return link, nil
}

// connectVia asks an HTTP proxy for a tunnel; it closes conn when there is none.
func connectVia(conn net.Conn, r *route, t Target) (tunnel net.Conn, err error) {
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	head := "CONNECT " + t.Dest.String() + " HTTP/1.1\r\nHost: " + t.Dest.String() + "\r\n"
	if r.authorization != "" {
		head += "Proxy-Authorization: " + r.authorization + "\r\n"
	}
	if _, err = io.WriteString(conn, head+"\r\n"); err != nil {
		return nil, upstreamFailure(err)
	}
	br := bufio.NewReader(io.LimitReader(conn, limits.ProxyHead))
	resp, err := http.ReadResponse(br, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, upstreamFailure(err)
	}
	switch {
	case resp.StatusCode/100 == 2:
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return nil, &Failure{Kind: UpstreamAuth, Err: errors.New(resp.Status)}
	default:
		return nil, &Failure{Kind: UpstreamRefused, Detail: printable(resp.Status), Err: errors.New(resp.Status)}
	}
	if n := br.Buffered(); n > 0 { // a server that speaks first
		early, _ := br.Peek(n)
		return &halfCloser{Conn: conn, early: early}, nil
	}
	return conn, nil
}

func upstreamFailure(err error) *Failure {
	if timedOut(err) {
		return &Failure{Kind: UpstreamTimeout, Err: err}
	}
	return &Failure{Kind: UpstreamDown, Err: err}
}

// socksConnect asks a SOCKS5 proxy for a tunnel. The connection it returns is the one to the proxy, not the library's wrapping of it.
func (d *Dialer) socksConnect(ctx context.Context, r *route, t Target) (net.Conn, error) {
	var conn net.Conn
	s, err := proxy.SOCKS5(r.network, r.addr, nil, dialFunc(func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		conn, err = d.upstream(ctx, network, addr)
		return conn, err
	}))
	if err != nil {
		return nil, &Failure{Kind: UpstreamDown, Err: err}
	}
	_, err = s.(proxy.ContextDialer).DialContext(ctx, "tcp", t.Dest.String())
	switch {
	case err == nil:
		return conn, nil
	case timedOut(err):
		return nil, &Failure{Kind: UpstreamTimeout, Err: err}
	case conn == nil:
		return nil, &Failure{Kind: UpstreamDown, Err: err}
	}
	return nil, &Failure{Kind: UpstreamRefused, Err: err}
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func (f dialFunc) Dial(network, addr string) (net.Conn, error) {
	return f(context.Background(), network, addr)
}

func (f dialFunc) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return f(ctx, network, addr)
}

func halfClosable(c net.Conn) Conn {
	switch c := c.(type) {
	case *net.TCPConn:
		return TCP{c}
	case Conn:
		return c
	}
	return &halfCloser{Conn: c}
}

// halfCloser gives a connection that is not TCP itself the half-close that tunnels need, and gives back what was read too early.
type halfCloser struct {
	net.Conn
	early []byte
}

func (c *halfCloser) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite ends the sending half.
func (c *halfCloser) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return errors.ErrUnsupported
}

// CloseRead does nothing: what still arrives is dropped when the connection is closed.
func (c *halfCloser) CloseRead() error { return nil }

// printable makes one short line of ASCII of what an upstream proxy said.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 100)]
}
