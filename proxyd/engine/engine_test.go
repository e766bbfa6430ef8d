package engine_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// connect asks for a tunnel and gives the status line; the connection is open behind it.
func connect(t testing.TB, addr, dest string) (*net.TCPConn, string) {
	t.Helper()
	c := proxytest.Dial(t, addr)
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", dest)
	line, err := bufio.NewReader(io.LimitReader(c, 200)).ReadString('\n')
	if err != nil {
		t.Errorf("CONNECT %s: %v", dest, err)
	}
	return c, strings.TrimSpace(line)
}

func hello(c *net.TCPConn) { io.WriteString(c, "hello") }

const established = "HTTP/1.1 200 Connection established"

func TestAttachRefuses(t *testing.T) {
	p := proxytest.Start(t, wire.ProxyConfig{})
	tcp := func() *os.File { f, _ := proxytest.Listener(t); return f }
	notTCP := func() *os.File {
		ln, err := net.Listen("unix", t.TempDir()+"/s")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		f, err := ln.(*net.UnixListener).File()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	proxy := wire.Listener{Role: wire.RoleProxy}
	for want, c := range map[string]struct {
		a     wire.Attach
		files []*os.File
	}{
		`attach command "x": 0 descriptors for 1 listeners`:                                                                 {wire.Attach{CommandID: "x", Listeners: []wire.Listener{proxy}}, nil},
		`attach command "x": 1 descriptors for 0 listeners`:                                                                 {wire.Attach{CommandID: "x"}, []*os.File{tcp()}},
		`attach command "": the command id is empty or in use`:                                                              {wire.Attach{Listeners: []wire.Listener{proxy}}, []*os.File{tcp()}},
		`attach command "cmd": the command id is empty or in use`:                                                           {wire.Attach{CommandID: "cmd", Listeners: []wire.Listener{proxy}}, []*os.File{tcp()}},
		`attach command "x": listener 0: a unix socket, not a TCP one`:                                                      {wire.Attach{CommandID: "x", Listeners: []wire.Listener{proxy}}, []*os.File{notTCP()}},
		`attach command "x": listener with role "" and target ""`:                                                           {wire.Attach{CommandID: "x", Listeners: []wire.Listener{{}}}, []*os.File{tcp()}},
		`attach command "x": listener with role "proxy" and target "a.b:1"`:                                                 {wire.Attach{CommandID: "x", Listeners: []wire.Listener{{Role: wire.RoleProxy, Target: "a.b:1"}}}, []*os.File{tcp()}},
		`attach command "x": mirror: "a.b": the port is missing (at character 4)`:                                           {wire.Attach{CommandID: "x", Listeners: []wire.Listener{{Role: wire.RoleMirror, Target: "a.b"}}}, []*os.File{tcp()}},
		`attach command "x": the command's allowedDomains: "a b": white space does not belong in an entry (at character 2)`: {wire.Attach{CommandID: "x", Listeners: []wire.Listener{proxy}, Lists: &wire.NetLists{AllowedDomains: []string{"a b"}}}, []*os.File{tcp()}},
	} {
		t.Run(want, func(t *testing.T) {
			err := p.Engine.Attach(c.a, c.files)
			if _, ok := errors.AsType[*wire.Fault](err); !ok || strings.Replace(err.Error(), `attach command:`, `attach command "":`, 1) != want {
				t.Errorf("error %v", err)
			}
			for _, f := range c.files {
				if f.Close() == nil {
					t.Error("a descriptor was left open")
				}
			}
		})
	}
}

func TestConfigure(t *testing.T) {
	origin := proxytest.Origin(t, hello)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	for want, cfg := range map[string]wire.ProxyConfig{
		"configure proxyd: the configuration has version 7, not 1":                                                                 {Version: 7},
		`configure proxyd: network.allowedDomains: "*": "*" would allow every host; it is for deniedDomains only (at character 1)`: {Version: 1, AllowedDomains: []string{"*"}},
		`configure proxyd: network.parentProxy.http: a "ftp" proxy is not known; http and https are`:                               {Version: 1, Parent: wire.ParentProxy{HTTP: "ftp://a.b"}},
	} {
		if err := p.Configure(cfg); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, line := connect(t, p.Addr, origin); line != established {
		t.Errorf("after a configuration that was refused: %s", line)
	}
	p.Set(t, wire.ProxyConfig{})
	if _, line := connect(t, p.Addr, origin); line != "HTTP/1.1 403 Connection blocked by network allowlist" {
		t.Errorf("after an empty configuration: %s", line)
	}
}

func TestOwnListsAndAttribution(t *testing.T) {
	origin := proxytest.Origin(t, hello)
	p := proxytest.Start(t, wire.ProxyConfig{})
	mine := p.Attach(t, wire.Attach{CommandID: "mine", Lists: &wire.NetLists{AllowedDomains: []string{origin}}}, wire.Listener{Role: wire.RoleProxy})
	if _, line := connect(t, mine, origin); line != established {
		t.Errorf("the command with the list: %s", line)
	}
	if _, line := connect(t, p.Addr, origin); !strings.HasPrefix(line, "HTTP/1.1 403 ") {
		t.Errorf("the command without: %s", line)
	}
	if err := p.Assign(wire.Assign{CommandID: "cmd", Lists: &wire.NetLists{AllowedDomains: []string{origin}}}); err != nil {
		t.Fatal(err)
	}
	if _, line := connect(t, p.Addr, origin); line != established {
		t.Errorf("the command that was given the list: %s", line)
	}
	for want, a := range map[string]wire.Assign{
		`assign lists to command "nobody": no such command is attached`: {CommandID: "nobody"},
		`assign lists to command "cmd": the command's allowedDomains: "*": "*" would allow every host; it is for deniedDomains only (at character 1)`: {CommandID: "cmd",
			Lists: &wire.NetLists{AllowedDomains: []string{"*"}}},
	} {
		if err := p.Assign(a); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, line := connect(t, p.Addr, origin); line != established {
		t.Errorf("after lists that were refused: %s", line)
	}
	if err := p.Assign(wire.Assign{CommandID: "cmd"}); err != nil {
		t.Fatal(err)
	}
	if _, line := connect(t, p.Addr, origin); !strings.HasPrefix(line, "HTTP/1.1 403 ") {
		t.Errorf("the command that was taken the list: %s", line)
	}
	c := proxytest.Dial(t, p.Addr) // nothing that a client sends makes it another command
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic bWluZTptaW5l\r\n\r\n", origin)
	if line, _ := bufio.NewReader(c).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 403 ") {
		t.Errorf("with somebody else's name: %s", line)
	}
	for _, e := range p.Wait(t, wire.EventViolation, 1) {
		if e.Violation.CommandID != "cmd" {
			t.Errorf("attributed to %q", e.Violation.CommandID)
		}
	}
}

func TestMirror(t *testing.T) {
	origin := proxytest.Origin(t, func(c *net.TCPConn) { // the server speaks first, and the client's half-close reaches it
		io.WriteString(c, "hello ")
		io.Copy(c, c)
		c.CloseWrite()
	})
	_, port, _ := net.SplitHostPort(origin)
	for name, c := range map[string]struct {
		target string
		cfg    wire.ProxyConfig
		want   string
	}{
		"an address":    {origin, wire.ProxyConfig{AllowedDomains: []string{origin}}, "hello bye"},
		"localhost":     {"localhost:" + port, wire.ProxyConfig{AllowedDomains: []string{"localhost:" + port}}, "hello bye"},
		"denied":        {origin, wire.ProxyConfig{AllowedDomains: []string{origin}, DeniedDomains: []string{"127.0.0.1"}}, ""},
		"not allowed":   {origin, wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1:1"}}, ""},
		"nobody's port": {"127.0.0.1:1", wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1:1"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := proxytest.Start(t, c.cfg)
			addr := p.Attach(t, wire.Attach{CommandID: "m"}, wire.Listener{Role: wire.RoleMirror, Target: c.target})
			var b []byte
			conn, err := net.Dial("tcp", addr) // may be reset at once
			if err == nil {
				conn.SetDeadline(time.Now().Add(10 * time.Second))
				io.WriteString(conn, "bye")
				conn.(*net.TCPConn).CloseWrite()
				b, err = io.ReadAll(conn)
				conn.Close()
			}
			if string(b) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q, %v; want %q", b, err, c.want)
			}
			if name == "denied" || name == "not allowed" {
				p.Violation(t, origin, map[string]string{"denied": "on the deny list", "not allowed": "not on the allow list"}[name])
			}
		})
	}
}

func TestAsk(t *testing.T) {
	origin := proxytest.Origin(t, hello)
	ask := wire.ProxyConfig{Ask: true, AskTimeoutMs: 10_000}
	lines := func(p *proxytest.Proxy, n int, addr, dest string) chan string {
		out := make(chan string, n)
		for range n {
			c := proxytest.Dial(t, addr)
			fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", dest)
			go func() {
				line, _ := bufio.NewReader(io.LimitReader(c, 200)).ReadString('\n')
				out <- strings.TrimSpace(line)
			}()
		}
		return out
	}
	t.Run("one question for one destination, shared by its connections", func(t *testing.T) {
		p := proxytest.Start(t, ask)
		got := lines(p, 5, p.Addr, origin)
		q := p.Wait(t, wire.EventAsk, 1)[0].Ask
		if q.CommandID != "cmd" || fmt.Sprintf("%s:%d", q.Host, q.Port) != origin {
			t.Errorf("question %+v", q)
		}
		time.Sleep(50 * time.Millisecond)
		p.Answer(wire.Answer{ID: q.ID, Allow: true})
		for range 5 {
			if line := <-got; line != established {
				t.Error(line)
			}
		}
		if n := len(p.Events(wire.EventAsk)); n != 1 {
			t.Errorf("%d questions", n)
		}
	})
	t.Run("a refusal", func(t *testing.T) {
		p := proxytest.Start(t, ask)
		got := lines(p, 1, p.Addr, "a.example:443")
		p.Answer(wire.Answer{ID: 999, Allow: true}) // to no question
		p.Answer(wire.Answer{ID: p.Wait(t, wire.EventAsk, 1)[0].Ask.ID})
		if line := <-got; line != "HTTP/1.1 403 refused by the user" {
			t.Error(line)
		}
		p.Violation(t, "a.example:443", "refused by the user")
		lines(p, 1, p.Addr, "a.example:443")
		p.Wait(t, wire.EventAsk, 2) // an answer is for the connections that waited
	})
	t.Run("no answer", func(t *testing.T) {
		p := proxytest.Start(t, wire.ProxyConfig{Ask: true, AskTimeoutMs: 50})
		if line := <-lines(p, 1, p.Addr, "a.example:443"); line != "HTTP/1.1 403 nobody answered the question in time" {
			t.Error(line)
		}
		id := p.Wait(t, wire.EventAsk, 1)[0].Ask.ID
		p.Answer(wire.Answer{ID: id, Allow: true}) // too late
		p.Violation(t, "a.example:443", "nobody answered the question in time")
	})
	t.Run("another command asks for itself, afterwards", func(t *testing.T) {
		p := proxytest.Start(t, ask)
		other := p.Attach(t, wire.Attach{CommandID: "other"}, wire.Listener{Role: wire.RoleProxy})
		first := lines(p, 1, p.Addr, origin)
		p.Wait(t, wire.EventAsk, 1)
		second := lines(p, 1, other, origin)
		time.Sleep(50 * time.Millisecond)
		if n := len(p.Events(wire.EventAsk)); n != 1 {
			t.Fatalf("%d questions about one destination", n)
		}
		p.Answer(wire.Answer{ID: p.Events(wire.EventAsk)[0].Ask.ID, Allow: true})
		if line := <-first; line != established {
			t.Error(line)
		}
		q := p.Wait(t, wire.EventAsk, 2)[1].Ask
		if q.CommandID != "other" {
			t.Errorf("question %+v", q)
		}
		p.Answer(wire.Answer{ID: q.ID})
		if line := <-second; line != "HTTP/1.1 403 refused by the user" {
			t.Error(line)
		}
	})
	t.Run("Detach withdraws the question", func(t *testing.T) {
		p := proxytest.Start(t, ask)
		lines(p, 1, p.Addr, "a.example:443")
		id := p.Wait(t, wire.EventAsk, 1)[0].Ask.ID
		if err := p.Detach("cmd"); err != nil {
			t.Fatal(err)
		}
		p.Answer(wire.Answer{ID: id, Allow: true})
		again := p.Attach(t, wire.Attach{CommandID: "cmd"}, wire.Listener{Role: wire.RoleProxy})
		lines(p, 1, again, "a.example:443")
		p.Wait(t, wire.EventAsk, 2)
	})
	t.Run("a flood of questions", func(t *testing.T) {
		p := proxytest.Start(t, ask)
		for i := range 80 {
			lines(p, 1, p.Addr, fmt.Sprintf("h%d.example:443", i))
		}
		p.Wait(t, wire.EventAsk, 64)
		for _, e := range p.Wait(t, wire.EventViolation, 16) {
			if e.Violation.Reason != "too many unanswered questions" {
				t.Errorf("%+v", e.Violation)
			}
		}
		if n := len(p.Events(wire.EventAsk)); n != 64 {
			t.Errorf("%d questions", n)
		}
	})
	t.Run("what the lists decide is not asked", func(t *testing.T) {
		p := proxytest.Start(t, wire.ProxyConfig{Ask: true, AllowedDomains: []string{origin}, DeniedDomains: []string{"deny.example"}})
		connect(t, p.Addr, origin)
		connect(t, p.Addr, "deny.example:443")
		if n := len(p.Events(wire.EventAsk)); n != 0 {
			t.Errorf("%d questions", n)
		}
	})
}

func TestAudit(t *testing.T) {
	origin := proxytest.Origin(t, hello)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}, Audit: true})
	connect(t, p.Addr, origin)
	d := p.Wait(t, wire.EventAllowed, 1)[0].Decision
	want := wire.Decision{Verdict: wire.VerdictAllow, CommandID: "cmd", Operation: "network-outbound", Target: origin, Rule: origin, Reason: "on the allow list", TimeMs: d.TimeMs, Count: 1}
	if d.TimeMs == 0 || *d != want {
		t.Errorf("%+v, want %+v", *d, want)
	}
	p.Set(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	connect(t, p.Addr, origin)
	if n := len(p.Events(wire.EventAllowed)); n != 1 {
		t.Errorf("%d decisions without audit", n)
	}
}

func TestDetach(t *testing.T) {
	ended := make(chan struct{})
	origin := proxytest.Origin(t, func(c *net.TCPConn) {
		io.Copy(io.Discard, c)
		close(ended)
	})
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	other := p.Attach(t, wire.Attach{CommandID: "other"}, wire.Listener{Role: wire.RoleProxy})
	tunnel, line := connect(t, p.Addr, origin)
	if line != established {
		t.Fatal(line)
	}
	idle := proxytest.Dial(t, p.Addr)
	if err := p.Detach("cmd"); err != nil {
		t.Fatal(err)
	}
	<-ended
	for _, c := range []*net.TCPConn{tunnel, idle} {
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection of a detached command is still open")
		}
	}
	if _, err := net.Dial("tcp", p.Addr); err == nil {
		t.Error("the listener of a detached command is still open")
	}
	if _, line := connect(t, other, "evil.example:1"); !strings.HasPrefix(line, "HTTP/1.1 403") {
		t.Errorf("the other command: %s", line)
	}
	if err := p.Detach("cmd"); err == nil || err.Error() != `detach command "cmd": no such command is attached` {
		t.Errorf("a second time: %v", err)
	}
}

func TestRefusalsAreCountedNotLost(t *testing.T) {
	p := proxytest.Start(t, wire.ProxyConfig{})
	for i := range 300 {
		connect(t, p.Addr, fmt.Sprintf("h%d.example:443", i%3))
	}
	total := func() (n int) {
		for _, e := range p.Events(wire.EventViolation) {
			n += e.Violation.Count
		}
		return n
	}
	for deadline := time.Now().Add(5 * time.Second); total() < 300 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	if n := total(); n != 300 {
		t.Errorf("%d refusals of 300 were reported", n)
	}
}
