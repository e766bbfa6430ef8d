package httpproxy_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

func TestPlainRequestsThroughAParentProxy(t *testing.T) {
	heads := make(chan string, 2)
	parent := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		for {
			head, err := readHead(r)
			if err != nil {
				return
			}
			heads <- head
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nvia-upstream")
		}
	})
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"example.invalid"}, Parent: wire.ParentProxy{HTTP: "http://u:p@" + parent}})
	c := dial(t, p.Addr)
	for range 2 {
		c.send("GET http://Example.invalid./x?y HTTP/1.1\r\nHost: other\r\nProxy-Authorization: Basic bm9ib2R5\r\nA: b\r\n\r\n")
		if resp, body := c.response("GET"); resp.StatusCode != 200 || body != "via-upstream" {
			t.Fatalf("%d %q", resp.StatusCode, body)
		}
		want := "GET http://example.invalid/x?y HTTP/1.1\r\nHost: example.invalid\r\nProxy-Authorization: Basic dTpw\r\nA: b\r\n\r\n"
		if head := <-heads; head != want {
			t.Errorf("the parent saw\n%q\nwant\n%q", head, want)
		}
	}
	c.send("GET http://not-allowed.invalid/ HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, _ := c.response("GET"); resp.StatusCode != 403 || len(heads) > 0 {
		t.Errorf("%d", resp.StatusCode)
	}
}

// TestAnUpgradeGoesThroughAParentAsATunnel shows that a command never speaks to the parent proxy itself behind a 101: a parent that took it
// for one more informational answer would serve the next request, to any host.
func TestAnUpgradeGoesThroughAParentAsATunnel(t *testing.T) {
	heads := make(chan string, 4)
	parent := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		for {
			head, err := readHead(r)
			if err != nil {
				return
			}
			heads <- head
			switch {
			case strings.HasPrefix(head, "CONNECT "): // and then the origin behind it
				io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			case strings.Contains(head, "Upgrade: x"):
				io.WriteString(c, "HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			default:
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	})
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"example.invalid"}, Parent: wire.ParentProxy{HTTP: "http://" + parent}})
	c := dial(t, p.Addr)
	c.send("GET http://example.invalid/ HTTP/1.1\r\nHost: x\r\n\r\n") // leaves a connection behind that speaks to the parent
	c.response("GET")
	c.send("GET http://example.invalid/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	if line := c.line(); line != "HTTP/1.1 101 S" {
		t.Fatal(line)
	}
	for _, want := range []string{
		"GET http://example.invalid/ HTTP/1.1\r\nHost: example.invalid\r\n\r\n",
		"CONNECT example.invalid:80 HTTP/1.1\r\nHost: example.invalid:80\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: example.invalid\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
	} {
		head := "nothing"
		select {
		case head = <-heads:
		default:
		}
		if head != want {
			t.Errorf("the parent saw\n%q\nwant\n%q", head, want)
		}
	}
}

func TestAParentProxyThatRefusesIsNotOurPolicy(t *testing.T) {
	parent := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 403 Corporate Policy\r\n\r\n")
	})
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"example.invalid"}, Parent: wire.ParentProxy{HTTP: parent}})
	resp, body := ask(t, p, "CONNECT example.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp.StatusCode != 502 || resp.Header.Get("X-Proxy-Error") != "upstream-proxy-refused" ||
		body != "srt could not connect to example.invalid:443: the upstream proxy refused the connection (403 Corporate Policy)\n" {
		t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
	}
	if n := len(p.Events(wire.EventViolation)); n > 0 {
		t.Errorf("%d violations", n)
	}
}

func TestARefusedUpload(t *testing.T) {
	p := proxytest.Start(t, allow("a.example"))
	for name, head := range map[string]string{"with a length": "Content-Length: 5000000", "chunked": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, p.Addr)
			c.send("PUT http://evil.example/ HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", head)
			go c.TCPConn.Write([]byte(strings.Repeat("x", 5_000_000)))
			if resp, body := c.response("PUT"); resp.StatusCode != 403 || !resp.Close || !strings.HasPrefix(body, "Connection blocked by network allowlist\n") {
				t.Errorf("%d, close %v, %q", resp.StatusCode, resp.Close, body)
			}
		})
	}
	t.Run("HEAD has no body", func(t *testing.T) {
		c := dial(t, p.Addr)
		c.send("HEAD http://evil.example/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://evil.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if resp, body := c.response("HEAD"); resp.StatusCode != 403 || body != "" {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
		if resp, _ := c.response("GET"); resp.StatusCode != 403 {
			t.Errorf("%d", resp.StatusCode)
		}
		c.atEnd()
	})
}
