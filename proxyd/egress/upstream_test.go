package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

func origin(t *testing.T, serve func(*net.TCPConn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			}()
		}
	}()
	return ln.Addr().String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// upstreamProxy is an upstream proxy that records the head it got, says answer, and then echoes.
func upstreamProxy(t *testing.T, answer string) (addr string, heads chan string) {
	heads = make(chan string, 1)
	return origin(t, func(c *net.TCPConn) { speak(c, answer, heads) }), heads
}

func speak(c net.Conn, answer string, heads chan string) {
	r := bufio.NewReader(c)
	var head strings.Builder
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			return
		}
		head.WriteString(line)
	}
	heads <- head.String()
	io.WriteString(c, answer)
	io.Copy(c, r)
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		h.CloseWrite()
	}
}

// through dials dest under cfg with the real network towards upstream proxies.
func through(t *testing.T, cfg wire.ProxyConfig, dest string, kind Kind, roots *x509.CertPool) (*Link, error) {
	t.Helper()
	d := dialer0(t, cfg, &fake{})
	d.upstream = (&net.Dialer{}).DialContext
	d.roots = roots
	tg := target(t, cfg, dest)
	tg.Kind = kind
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	link, err := d.Dial(ctx, tg)
	if err == nil {
		t.Cleanup(func() { link.Conn.Close() })
		link.Conn.SetDeadline(time.Now().Add(10 * time.Second))
	}
	return link, err
}

// echoes checks that bytes go both ways and that the half-close does.
func echoes(t *testing.T, c Conn, early string) {
	t.Helper()
	io.WriteString(c, "ping")
	if err := c.CloseWrite(); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(c); err != nil || string(b) != early+"ping" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestParentProxy(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n\r\n"
	t.Run("a tunnel", func(t *testing.T) {
		addr, heads := upstreamProxy(t, ok)
		link, err := through(t, wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: "http://us%65r:p%40ss@" + addr}}, "A.example.:443", Tunnel, nil)
		if err != nil {
			t.Fatal(err)
		}
		if head, want := <-heads, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n"; head != want {
			t.Errorf("the parent saw %q, want %q", head, want)
		}
		if _, plain := link.Conn.(TCP); !plain || link.Via != nil {
			t.Errorf("the connection is a %T", link.Conn)
		}
		echoes(t, link.Conn, "")
	})
	t.Run("a server that speaks at once", func(t *testing.T) {
		addr, _ := upstreamProxy(t, ok+"220 hello\r\n")
		link, err := through(t, wire.ProxyConfig{Parent: wire.ParentProxy{HTTPS: addr}}, "a.example:25", Socks, nil)
		if err != nil {
			t.Fatal(err)
		}
		echoes(t, link.Conn, "220 hello\r\n")
	})
	t.Run("plain requests go to the parent as they are", func(t *testing.T) {
		addr, heads := upstreamProxy(t, "")
		link, err := through(t, wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: "http://u@" + addr}}, "a.example:80", Plain, nil)
		if err != nil || link.Via == nil || link.Via.Authorization != "Basic dTo=" {
			t.Fatalf("%+v, %v", link, err)
		}
		io.WriteString(link.Conn, "GET http://a.example/ HTTP/1.1\r\n\r\n")
		if head := <-heads; head != "GET http://a.example/ HTTP/1.1\r\n\r\n" {
			t.Errorf("the parent saw %q", head)
		}
	})
	for name, c := range map[string]struct {
		answer string
		kind   FailureKind
		text   string
	}{
		"wants credentials":   {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", UpstreamAuth, "the upstream proxy wants other credentials"},
		"refuses":             {"HTTP/1.1 403 No\x1b[31m Way\r\n\r\n", UpstreamRefused, "the upstream proxy refused the connection (403 No[31m Way)"},
		"cannot":              {"HTTP/1.1 502 Bad Gateway\r\n\r\n", UpstreamRefused, "the upstream proxy refused the connection (502 Bad Gateway)"},
		"does not speak HTTP": {"SSH-2.0-x\r\n\r\n", UpstreamDown, "the upstream proxy cannot be reached"},
		"never stops":         {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 10_000), UpstreamDown, "the upstream proxy cannot be reached"},
	} {
		t.Run("a parent that "+name, func(t *testing.T) {
			addr, _ := upstreamProxy(t, c.answer)
			_, err := through(t, wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: "http://user:secret@" + addr}}, "a.example:443", Tunnel, nil)
			if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != c.kind || f.Text() != c.text || f.Status() != 502 {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a parent that is not there", func(t *testing.T) {
		addr := closedPort(t)
		_, err := through(t, wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: addr}}, "a.example:443", Tunnel, nil)
		if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != UpstreamDown {
			t.Errorf("%v", err)
		}
	})
	t.Run("a parent that says nothing", func(t *testing.T) {
		addr := origin(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) })
		d := dialer0(t, wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: addr}}, &fake{})
		d.upstream = (&net.Dialer{}).DialContext
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := d.Dial(ctx, target(t, wire.ProxyConfig{}, "a.example:443"))
		if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != UpstreamTimeout || f.Status() != 504 {
			t.Errorf("%v", err)
		}
	})
	t.Run("a parent behind TLS", func(t *testing.T) {
		heads := make(chan string, 1)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, rw, _ := w.(http.Hijacker).Hijack()
			heads <- r.Host
			io.WriteString(c, ok)
			io.Copy(c, rw)
			c.(*tls.Conn).CloseWrite()
		}))
		s.StartTLS()
		defer s.Close()
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		cfg := wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: s.URL}}
		link, err := through(t, cfg, "a.example:443", Tunnel, roots)
		if err != nil {
			t.Fatal(err)
		}
		if head := <-heads; head != "a.example:443" {
			t.Errorf("the parent saw %q", head)
		}
		echoes(t, link.Conn, "")
		if _, err := through(t, cfg, "a.example:443", Tunnel, x509.NewCertPool()); err == nil {
			t.Error("a parent with a certificate of nobody is believed")
		} else if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != UpstreamDown {
			t.Errorf("%v", err)
		}
	})
}

func TestMitmSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	heads := make(chan string, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go speak(c, "HTTP/1.1 200 OK\r\n\r\n", heads)
		}
	}()
	cfg := wire.ProxyConfig{Mitm: &wire.MitmProxy{SocketPath: path, Domains: []string{"m.example"}}}
	link, err := through(t, cfg, "m.example:443", Tunnel, nil)
	if err != nil {
		t.Fatal(err)
	}
	if head := <-heads; head != "CONNECT m.example:443 HTTP/1.1\r\nHost: m.example:443\r\n\r\n" {
		t.Errorf("the socket saw %q", head)
	}
	echoes(t, link.Conn, "")
	if link, err = through(t, cfg, "m.example:80", Plain, nil); err != nil || link.Via == nil {
		t.Errorf("%+v, %v", link, err)
	}
}

func TestOwnSocksProxy(t *testing.T) {
	saw := make(chan []byte, 1)
	serve := func(reply byte) string {
		return origin(t, func(c *net.TCPConn) {
			b := make([]byte, 3)
			io.ReadFull(c, b)
			c.Write([]byte{5, 0})
			head := make([]byte, 4+1+len("a.example")+2)
			io.ReadFull(c, head)
			saw <- head
			c.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0})
			io.Copy(c, c)
			c.CloseWrite()
		})
	}
	port := func(addr string) int {
		_, p, _ := net.SplitHostPort(addr)
		n, _ := strconv.Atoi(p)
		return n
	}
	link, err := through(t, wire.ProxyConfig{SOCKSProxyPort: port(serve(0))}, "a.example:443", Socks, nil)
	if err != nil {
		t.Fatal(err)
	}
	if head, want := <-saw, []byte("\x05\x01\x00\x03\x09a.example\x01\xbb"); !bytes.Equal(head, want) {
		t.Errorf("the proxy saw %q, want %q", head, want)
	}
	if _, plain := link.Conn.(TCP); !plain {
		t.Errorf("the connection is a %T", link.Conn)
	}
	echoes(t, link.Conn, "")
	_, err = through(t, wire.ProxyConfig{SOCKSProxyPort: port(serve(2))}, "a.example:443", Socks, nil)
	<-saw
	if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != UpstreamRefused {
		t.Errorf("%v", err)
	}
	addr := closedPort(t)
	_, err = through(t, wire.ProxyConfig{SOCKSProxyPort: port(addr)}, "a.example:443", Socks, nil)
	if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != UpstreamDown {
		t.Errorf("%v", err)
	}
}
