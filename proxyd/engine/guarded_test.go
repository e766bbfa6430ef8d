package engine_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

const token = "0123456789abcdef0123456789abcdef"

// TestGuardedPort: where proxyd opens the port itself, any process of the machine can connect to it, so only the token opens it.
func TestGuardedPort(t *testing.T) {
	origin := proxytest.Origin(t, hello)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	addr := p.Guard(t, wire.Attach{CommandID: "guarded", Token: token})
	other := p.Guard(t, wire.Attach{CommandID: "other", Token: strings.Repeat("f", wire.MinToken)})
	for name, c := range map[string]struct {
		header string
		status string
	}{
		"the token":               {"Basic " + basic("srt", token), established},
		"in another spelling":     {"bAsIc   " + basic("srt", token), established},
		"no token":                {"", "HTTP/1.1 407 Proxy Authentication Required"},
		"another token":           {"Basic " + basic("srt", strings.Repeat("f", wire.MinToken)), "HTTP/1.1 407 Proxy Authentication Required"},
		"a beginning of it":       {"Basic " + basic("srt", token[:31]), "HTTP/1.1 407 Proxy Authentication Required"},
		"an empty one":            {"Basic " + basic("srt", ""), "HTTP/1.1 407 Proxy Authentication Required"},
		"another user":            {"Basic " + basic("root", token), "HTTP/1.1 407 Proxy Authentication Required"},
		"as another scheme":       {"Bearer " + token, "HTTP/1.1 407 Proxy Authentication Required"},
		"not coded":               {"Basic srt:" + token, "HTTP/1.1 407 Proxy Authentication Required"},
		"the last of two counts":  {"Basic " + basic("srt", "x") + "\r\nProxy-Authorization: Basic " + basic("srt", token), established},
		"and when it is no token": {"Basic " + basic("srt", token) + "\r\nProxy-Authorization: Basic x", "HTTP/1.1 407 Proxy Authentication Required"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := proxytest.Dial(t, addr)
			if c.header != "" {
				c.header = "Proxy-Authorization: " + c.header + "\r\n"
			}
			fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n%s\r\n", origin, c.header)
			if line, _ := bufio.NewReader(conn).ReadString('\n'); strings.TrimSpace(line) != c.status {
				t.Errorf("got %q", line)
			}
		})
	}
	conn := proxytest.Dial(t, other)
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic %s\r\n\r\n", origin, basic("srt", token))
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 407 ") {
		t.Errorf("one command's token at another's port: %q", line)
	}
	if events := p.Events(wire.EventViolation); len(events) != 0 {
		t.Errorf("a missing token is no violation of a command: %+v", events[0].Violation)
	}
}

func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// TestGuardedConversation: a client that asks first without the token gets its challenge on a connection that goes on, as git and .NET
// expect, and the token never reaches an origin.
func TestGuardedConversation(t *testing.T) {
	seen := make(chan http.Header, 1)
	origin := proxytest.Origin(t, func(c *net.TCPConn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			seen <- r.Header
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	c := proxytest.Dial(t, p.Guard(t, wire.Attach{CommandID: "guarded", Token: token}))
	r := bufio.NewReader(c)
	fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
	first, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(first.Body)
	if first.StatusCode != 407 || first.Header.Get("Proxy-Authenticate") != `Basic realm="srt"` || first.Header.Get("X-Proxy-Error") != "token-required" ||
		string(body) != "srt serves the sandboxed command only: use the proxy URL of HTTPS_PROXY whole, with its user name and password\n" {
		t.Errorf("challenge: %v %q", first, body)
	}
	fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic %s\r\n\r\n", origin, basic("srt", token))
	second, err := http.ReadResponse(r, nil)
	if err != nil || second.StatusCode != 200 {
		t.Fatalf("with the token: %v, %v", second, err)
	}
	if h := <-seen; h.Get("Proxy-Authorization") != "" {
		t.Error("the origin was told the token")
	}
}

func TestGuardedSocks(t *testing.T) {
	origin := proxytest.Origin(t, hello)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	addr := p.Guard(t, wire.Attach{CommandID: "guarded", Token: token})
	say := func(words ...string) string {
		c := proxytest.Dial(t, addr)
		io.WriteString(c, strings.Join(words, ""))
		got, _ := io.ReadAll(io.LimitReader(c, 4))
		return string(got)
	}
	login := func(user, password string) string {
		return fmt.Sprintf("\x01%c%s%c%s", len(user), user, len(password), password)
	}
	if got := say("\x05\x01\x00"); got != "\x05\xff" {
		t.Errorf("without a password: %q", got)
	}
	if got := say("\x05\x02\x00\x02", login("srt", token)); got != "\x05\x02\x01\x00" {
		t.Errorf("with the token: %q", got)
	}
	if got := say("\x05\x01\x02", login("srt", "wrong")); got != "\x05\x02\x01\x01" {
		t.Errorf("with another: %q", got)
	}
}

func TestGuardRefuses(t *testing.T) {
	p := proxytest.Start(t, wire.ProxyConfig{})
	busy := p.Guard(t, wire.Attach{CommandID: "first", Token: token})
	proxy := []wire.Listener{{Role: wire.RoleProxy}}
	for want, c := range map[string]struct {
		code string
		a    wire.Attach
	}{
		`attach command "x": a port that anybody can reach needs a token`:  {wire.CodeMalformed, wire.Attach{Listen: "127.0.0.1:1", Listeners: proxy}},
		`attach command "x": "" is no port of the loopback`:                {wire.CodeMalformed, wire.Attach{Token: token, Listeners: proxy}},
		`attach command "x": "0.0.0.0:60080" is no port of the loopback`:   {wire.CodeMalformed, wire.Attach{Listen: "0.0.0.0:60080", Token: token, Listeners: proxy}},
		`attach command "x": "127.0.0.1:0" is no port of the loopback`:     {wire.CodeMalformed, wire.Attach{Listen: "127.0.0.1:0", Token: token, Listeners: proxy}},
		`attach command "x": proxyd opens one proxy listener and no other`: {wire.CodeMalformed, wire.Attach{Listen: "127.0.0.1:60080", Token: token}},
		`attach command "x": another process has ` + busy:                  {wire.CodeBusy, wire.Attach{Listen: busy, Token: token, Listeners: proxy}},
	} {
		c.a.CommandID = "x"
		err := p.Engine.Attach(c.a, nil)
		if f, ok := errors.AsType[*wire.Fault](err); !ok || f.Code != c.code || f.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := p.Engine.Detach("first"); err != nil {
		t.Fatal(err)
	}
	if err := p.Engine.Attach(wire.Attach{CommandID: "x", Listen: busy, Token: token, Listeners: proxy}, nil); err != nil {
		t.Errorf("the port is not given back: %v", err)
	}
}
