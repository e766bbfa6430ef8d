package httpproxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// counter answers with the number of bytes once the client's half is closed.
func counter(c net.Conn, r *bufio.Reader) {
	n, _ := io.Copy(io.Discard, r)
	fmt.Fprintf(c, "got %d bytes\n", n)
}

func echo(c net.Conn, r *bufio.Reader) { io.Copy(c, r) }

func (c *client) connect(dest string) *http.Response {
	c.t.Helper()
	c.send("CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", dest)
	resp, err := http.ReadResponse(c.Reader, &http.Request{Method: "CONNECT"})
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

func TestConnect(t *testing.T) {
	t.Run("half-close", func(t *testing.T) {
		origin := rawOrigin(t, counter)
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		if resp := c.connect(origin); resp.StatusCode != 200 {
			t.Fatal(resp.Status)
		}
		c.send("%s", strings.Repeat("z", 1000))
		c.CloseWrite()
		if all, err := io.ReadAll(c); err != nil || string(all) != "got 1000 bytes\n" {
			t.Errorf("%q, %v", all, err)
		}
	})
	t.Run("a server that closes its half first", func(t *testing.T) {
		rest := make(chan int64, 1)
		origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
			io.WriteString(c, "bye")
			c.(*net.TCPConn).CloseWrite()
			n, _ := io.Copy(io.Discard, r)
			rest <- n
		})
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		c.connect(origin)
		if all, err := io.ReadAll(c); err != nil || string(all) != "bye" {
			t.Errorf("%q, %v", all, err)
		}
		c.send("still here")
		c.CloseWrite()
		if n := <-rest; n != 10 {
			t.Errorf("the server got %d bytes", n)
		}
	})
	t.Run("early data", func(t *testing.T) {
		origin := rawOrigin(t, counter)
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		early := strings.Repeat("e", 10_000)
		c.send("CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n%[2]s", origin, early)
		c.CloseWrite()
		if line := c.line(); line != "HTTP/1.1 200 Connection established" {
			t.Fatal(line)
		}
		c.line()
		if all, err := io.ReadAll(c); err != nil || string(all) != "got 10000 bytes\n" {
			t.Errorf("%q, %v", all, err)
		}
	})
	t.Run("early data before a refusal", func(t *testing.T) {
		c := dial(t, proxytest.Start(t, allow("a.example")).Addr)
		c.send("CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n%s", strings.Repeat("e", 100_000))
		if resp, body := c.response("CONNECT"); resp.StatusCode != 403 || !strings.HasPrefix(body, "Connection blocked by network allowlist\n") {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
		c.atEnd()
	})
	t.Run("HTTP/1.0", func(t *testing.T) {
		origin := rawOrigin(t, echo)
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		c.send("CONNECT %s HTTP/1.0\r\n\r\n", origin)
		if line := c.line(); line != "HTTP/1.0 200 Connection established" {
			t.Error(line)
		}
	})
	t.Run("HTTP/1.1 without a Host", func(t *testing.T) { // simple relays send none, and nothing hangs on it
		origin := rawOrigin(t, echo)
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		c.send("CONNECT %s HTTP/1.1\r\n\r\n", origin)
		if line := c.line(); line != "HTTP/1.1 200 Connection established" {
			t.Error(line)
		}
	})
	t.Run("a large exchange", func(t *testing.T) {
		origin := rawOrigin(t, echo)
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		c.connect(origin)
		data := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
		go func() {
			c.Write(data)
			c.CloseWrite()
		}()
		if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
		}
	})
	t.Run("a client that vanishes ends the tunnel", func(t *testing.T) {
		ended := make(chan error, 1)
		origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
			_, err := io.Copy(io.Discard, r)
			ended <- err
		})
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		c.connect(origin)
		c.SetLinger(0)
		c.Close()
		<-ended
	})
	t.Run("Detach ends the tunnel", func(t *testing.T) {
		ended := make(chan error, 1)
		origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
			_, err := io.Copy(io.Discard, r)
			ended <- err
		})
		p := proxytest.Start(t, allow(origin))
		c := dial(t, p.Addr)
		c.connect(origin)
		if err := p.Detach("cmd"); err != nil {
			t.Fatal(err)
		}
		<-ended
		c.atEnd()
	})
	t.Run("a name in another spelling", func(t *testing.T) {
		origin := rawOrigin(t, echo)
		_, port, _ := net.SplitHostPort(origin)
		p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"a.localhost"}, DeniedDomains: []string{"b.localhost"}})
		if resp := dial(t, p.Addr).connect("A.LOCALHOST.:" + port); resp.StatusCode != 200 {
			t.Error(resp.Status)
		}
		if resp := dial(t, p.Addr).connect("B.localhost.:" + port); resp.StatusCode != 403 {
			t.Error(resp.Status)
		}
	})
}

func TestUpgrade(t *testing.T) {
	upgrade := func(t *testing.T, origin, protocol, early string) *client {
		c := dial(t, proxytest.Start(t, allow(origin)).Addr)
		c.send("GET http://%s/ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Key: k\r\n\r\n%s", origin, protocol, early)
		return c
	}
	for _, protocol := range []string{"websocket", "tcp", "Some-Thing/2"} {
		t.Run(protocol, func(t *testing.T) {
			saw := make(chan string, 1)
			origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
				head, _ := readHead(r)
				saw <- head
				fmt.Fprintf(c, "HTTP/1.1 101 Switching It\r\nUpgrade: %s\r\nConnection: upgrade\r\nX-A: b\r\n\r\nserver first", protocol)
				n, _ := io.Copy(c, r)
				fmt.Fprintf(c, "; %d", n)
			})
			c := upgrade(t, origin, protocol, "client first")
			if line := c.line(); line != "HTTP/1.1 101 Switching It" {
				t.Fatal(line)
			}
			head, _ := readHead(c.Reader)
			if want := fmt.Sprintf("X-A: b\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", protocol); head != want {
				t.Errorf("the client saw %q", head)
			}
			c.send(" and last")
			c.CloseWrite() // half-close reaches the origin, its answer still arrives
			if all, err := io.ReadAll(c); err != nil || string(all) != "server firstclient first and last; 21" {
				t.Errorf("%q, %v", all, err)
			}
			want := fmt.Sprintf("GET /ws HTTP/1.1\r\nHost: %s\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", origin, protocol)
			if got := <-saw; got != want {
				t.Errorf("the origin saw\n%q\nwant\n%q", got, want)
			}
		})
	}
	t.Run("an origin that does not want to", func(t *testing.T) {
		origin := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusUpgradeRequired) })
		c := upgrade(t, origin, "websocket", "")
		if resp, body := c.response("GET"); resp.StatusCode != http.StatusUpgradeRequired || body != "no\n" {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
		c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin) // the connection goes on
		if resp, _ := c.response("GET"); resp.StatusCode != http.StatusUpgradeRequired {
			t.Error(resp.Status)
		}
	})
	t.Run("a host that is not allowed", func(t *testing.T) {
		p := proxytest.Start(t, allow("a.example"))
		resp, _ := ask(t, p, "GET http://evil.example/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		if resp.StatusCode != 403 {
			t.Error(resp.Status)
		}
		p.Violation(t, "evil.example:80", "not on the allow list")
	})
}
