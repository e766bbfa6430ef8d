package httpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// patience bounds every wait of these tests.
const patience = 10 * time.Second

// rawOrigin accepts connections and hands each to serve; it gives its address.
func rawOrigin(t testing.TB, serve func(c net.Conn, r *bufio.Reader)) string {
	t.Helper()
	return proxytest.Origin(t, func(c *net.TCPConn) { serve(c, bufio.NewReader(c)) })
}

// httpOrigin serves h and gives its address.
func httpOrigin(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	t.Cleanup(func() { s.Close() })
	go s.Serve(ln)
	return ln.Addr().String()
}

// readHead reads up to and including the empty line.
func readHead(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String(), err
		}
	}
}

func allow(entries ...string) wire.ProxyConfig { return wire.ProxyConfig{AllowedDomains: entries} }

// client is one raw connection to the proxy.
type client struct {
	*net.TCPConn
	*bufio.Reader
	t testing.TB
}

func (c *client) Read(p []byte) (int, error) { return c.Reader.Read(p) }

func dial(t testing.TB, addr string) *client {
	t.Helper()
	c := proxytest.Dial(t, addr)
	return &client{c, bufio.NewReader(c), t}
}

func (c *client) send(format string, a ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.TCPConn, format, a...); err != nil {
		c.t.Fatal(err)
	}
}

// response reads one response with its body.
func (c *client) response(method string) (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.Reader, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("no response: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("response body: %v", err)
	}
	return resp, string(body)
}

func (c *client) line() string {
	c.t.Helper()
	line, err := c.ReadString('\n')
	if err != nil {
		c.t.Fatalf("no line: %v", err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// atEnd checks that the proxy has ended the connection.
func (c *client) atEnd() {
	c.t.Helper()
	if b, err := io.ReadAll(c.Reader); err != nil || len(b) > 0 {
		c.t.Errorf("the connection goes on: %q, %v", b, err)
	}
}

// ask sends one raw request on a new connection and reads the answer.
func ask(t testing.TB, p *proxytest.Proxy, raw string) (*http.Response, string) {
	t.Helper()
	c := dial(t, p.Addr)
	c.send("%s", raw)
	method, _, _ := strings.Cut(raw, " ")
	return c.response(method)
}
