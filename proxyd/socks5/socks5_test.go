package socks5_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// Replies of RFC 1928.
const (
	granted        = 0
	notAllowed     = 2
	refused        = 5
	badCommand     = 7
	badAddressType = 8
)

func echo(c *net.TCPConn) {
	io.Copy(c, c)
	c.CloseWrite()
}

// greeting offers the methods and gives the chosen one.
func greeting(t testing.TB, c net.Conn, methods ...byte) byte {
	t.Helper()
	c.Write(append([]byte{5, byte(len(methods))}, methods...))
	var b [2]byte
	if _, err := io.ReadFull(c, b[:]); err != nil || b[0] != 5 {
		t.Fatalf("greeting answered %v, %v", b, err)
	}
	return b[1]
}

// address encodes a host as the SOCKS address type that it is.
func address(host string, port uint16) []byte {
	var b []byte
	if a, err := netip.ParseAddr(host); err == nil && a.Is4() {
		b = append([]byte{1}, a.AsSlice()...)
	} else if err == nil && a.Zone() == "" {
		b = append([]byte{4}, a.AsSlice()...)
	} else {
		b = append([]byte{3, byte(len(host))}, host...)
	}
	return binary.BigEndian.AppendUint16(b, port)
}

// request sends a command and gives the reply with the address that came with it; -1 when the connection was closed instead.
func request(t testing.TB, c net.Conn, command byte, addr []byte) (reply int, bound string) {
	t.Helper()
	c.Write(append([]byte{5, command, 0}, addr...))
	var b [10]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return -1, ""
	}
	return int(b[1]), fmt.Sprint(b[3:])
}

func connect(t testing.TB, p *proxytest.Proxy, host string, port uint16) (net.Conn, int) {
	t.Helper()
	c := proxytest.Dial(t, p.Addr)
	if m := greeting(t, c, 0); m != 0 {
		t.Fatalf("method %d", m)
	}
	reply, bound := request(t, c, 1, address(host, port))
	if reply == granted && bound != "[1 0 0 0 0 0 0]" {
		t.Errorf("our own address towards the outside is told: %s", bound)
	}
	return c, reply
}

func split(t testing.TB, addr string) (string, uint16) {
	t.Helper()
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return ap.Addr().String(), ap.Port()
}

func TestConnect(t *testing.T) {
	origin := proxytest.Origin(t, echo)
	_, port := split(t, origin)
	closed, addr := proxytest.Listener(t)
	closed.Close()
	_, closedPort := split(t, addr)
	cfg := wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1", "a.localhost", "b.localhost", "[::1]"}, DeniedDomains: []string{"b.localhost", "*:25"}}
	for name, c := range map[string]struct {
		host   string
		port   uint16
		reply  int
		target string // of the violation, "" for none
		reason string
	}{
		"by name":                        {"a.localhost", port, granted, "", ""},
		"by name in another spelling":    {"A.LocalHost.", port, granted, "", ""},
		"by address":                     {"127.0.0.1", port, granted, "", ""},
		"by mapped address":              {"::ffff:127.0.0.1", port, granted, "", ""},
		"an address as a name":           {"0x7f000001", port, granted, "", ""},
		"a name that is not allowed":     {"evil.example", 80, notAllowed, "evil.example:80", "not on the allow list"},
		"a name that is denied":          {"b.localhost", port, notAllowed, fmt.Sprintf("b.localhost:%d", port), "on the deny list"},
		"a port that is denied":          {"127.0.0.1", 25, notAllowed, "127.0.0.1:25", "on the deny list"},
		"an address that is not allowed": {"203.0.113.66", 80, notAllowed, "203.0.113.66:80", "not on the allow list"},
		"a decimal address":              {"3405803842", 80, notAllowed, "203.0.113.66:80", "not on the allow list"},
		"a compatible address":           {"::127.0.0.1", 80, notAllowed, "[::7f00:1]:80", "not on the allow list"},
		"a closed port":                  {"127.0.0.1", closedPort, refused, "", ""},
		"NUL in the name":                {"evil.example\x00.localhost", 80, notAllowed, `evil.example\x00.localhost:80`, "malformed destination"},
		"a line break in the name":       {"a\r\n.localhost", 80, notAllowed, `a\r\n.localhost:80`, "malformed destination"},
		"a zone in the name":             {"::1%25.localhost", 80, notAllowed, "::1%25.localhost:80", "malformed destination"},
		"an empty name":                  {"", 80, notAllowed, ":80", "malformed destination"},
		"port 0":                         {"127.0.0.1", 0, notAllowed, "127.0.0.1:0", "malformed destination"},
	} {
		t.Run(name, func(t *testing.T) {
			p := proxytest.Start(t, cfg)
			conn, reply := connect(t, p, c.host, c.port)
			if reply != c.reply {
				t.Fatalf("reply %d, want %d", reply, c.reply)
			}
			if c.target != "" {
				p.Violation(t, c.target, c.reason)
			}
			if n := len(p.Events(wire.EventViolation)); n > 0 && c.target == "" {
				t.Errorf("%d violations", n)
			}
			if reply == granted {
				io.WriteString(conn, "ping")
				conn.(*net.TCPConn).CloseWrite()
				if b, err := io.ReadAll(conn); err != nil || string(b) != "ping" {
					t.Errorf("%q, %v", b, err)
				}
			}
		})
	}
}

func TestHalfCloseWithALateAnswer(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 20_000)
	origin := proxytest.Origin(t, func(c *net.TCPConn) {
		b, _ := io.ReadAll(c)
		time.Sleep(100 * time.Millisecond)
		fmt.Fprintf(c, "%s\nEOF-SEEN %d\n", b, len(b))
	})
	host, port := split(t, origin)
	c, reply := connect(t, proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}}), host, port)
	if reply != granted {
		t.Fatalf("reply %d", reply)
	}
	go func() {
		c.Write(data)
		c.(*net.TCPConn).CloseWrite()
	}()
	if got, err := io.ReadAll(c); err != nil || string(got) != fmt.Sprintf("%s\nEOF-SEEN %d\n", data, len(data)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestMethods(t *testing.T) {
	p := proxytest.Start(t, wire.ProxyConfig{})
	for want, offered := range map[byte][]byte{0: {0, 2}, 2: {2}, 0xff: {1, 3}} {
		if got := greeting(t, proxytest.Dial(t, p.Addr), offered...); got != want {
			t.Errorf("of %v method %d was chosen, want %d", offered, got, want)
		}
	}
	c := proxytest.Dial(t, p.Addr)
	greeting(t, c, 2)
	io.WriteString(c, "\x01\x04user\x04pass")
	if b := make([]byte, 2); true {
		if _, err := io.ReadFull(c, b); err != nil || b[1] != 0 {
			t.Errorf("authentication %v, %v", b, err)
		}
	}
	if reply, _ := request(t, c, 1, address("evil.example", 22)); reply != notAllowed {
		t.Errorf("a client that can authenticate gets reply %d for SSH, want 2", reply)
	}
}

func TestOtherCommands(t *testing.T) {
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1"}})
	for command, want := range map[byte]int{2: badCommand, 3: badCommand, 9: badCommand} {
		c := proxytest.Dial(t, p.Addr)
		greeting(t, c, 0)
		if reply, _ := request(t, c, command, address("127.0.0.1", 80)); reply != want {
			t.Errorf("command %d: reply %d, want %d", command, reply, want)
		}
	}
	c := proxytest.Dial(t, p.Addr)
	greeting(t, c, 0)
	if reply, _ := request(t, c, 1, []byte{7, 1, 2, 3}); reply != badAddressType {
		t.Errorf("an unknown address type: reply %d", reply)
	}
	p.Violation(t, "127.0.0.1:80", "SOCKS command not supported")
}

func TestSOCKS4IsRejected(t *testing.T) {
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1"}})
	for name, request := range map[string]string{
		"by address": "\x04\x01\x00\x50\x7f\x00\x00\x01u\x00", "by name": "\x04\x01\x00\x50\x00\x00\x00\x01u\x00evil.example\x00",
	} {
		c := proxytest.Dial(t, p.Addr)
		io.WriteString(c, request)
		if b, err := io.ReadAll(c); err != nil || len(b) != 8 || b[1] != 0x5b {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
	p.Violation(t, "*", "SOCKS4 is not spoken; use SOCKS5")
}

// disconnect takes an SSH_MSG_DISCONNECT apart.
func disconnect(t *testing.T, b []byte) (reason string) {
	t.Helper()
	ident, packet, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || string(ident) != "SSH-2.0-srt" || len(packet) < 5 {
		t.Fatalf("%q", b)
	}
	length, padding := int(binary.BigEndian.Uint32(packet)), int(packet[4])
	if len(packet) != 4+length || len(packet)%8 != 0 || padding < 4 {
		t.Fatalf("packet of %d bytes says %d with %d of padding", len(packet), length, padding)
	}
	payload := packet[5 : len(packet)-padding]
	n := int(binary.BigEndian.Uint32(payload[5:]))
	if payload[0] != 1 || binary.BigEndian.Uint32(payload[1:]) != 1 || len(payload) != 9+n+4 {
		t.Fatalf("payload %q", payload)
	}
	return string(payload[9 : 9+n])
}

func TestRefusalInSSH(t *testing.T) {
	for name, c := range map[string]struct {
		reasons map[string]string
		want    string
	}{
		"the entry's reason":        {map[string]string{"github.test:22": "SSH pushes are blocked; use an https:// remote"}, "SSH pushes are blocked; use an https:// remote"},
		"a reason beyond ASCII":     {map[string]string{"github.test:22": "no\nSSH – ünd"}, "no?SSH ? ?nd"},
		"a reason that is too long": {map[string]string{"github.test:22": strings.Repeat("x", 1000)}, strings.Repeat("x", 400)},
		"no reason":                 {nil, "on the deny list"},
	} {
		t.Run(name, func(t *testing.T) {
			p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"github.test"}, DeniedDomains: []string{"github.test:22", "github.test:2222"}, DeniedDomainReasons: c.reasons})
			conn, reply := connect(t, p, "github.test", 22)
			if reply != granted {
				t.Fatalf("reply %d", reply)
			}
			io.WriteString(conn, "SSH-2.0-client\r\n")
			conn.(*net.TCPConn).CloseWrite()
			b, err := io.ReadAll(conn)
			if got := disconnect(t, b); err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
			if _, reply := connect(t, p, "github.test", 2222); reply != notAllowed {
				t.Errorf("on another port: reply %d", reply)
			}
		})
	}
	t.Run("OpenSSH prints it", func(t *testing.T) {
		ssh, err := exec.LookPath("ssh")
		nc, err2 := exec.LookPath("nc")
		if err != nil || err2 != nil || runtime.GOOS == "windows" {
			t.Skip("needs ssh and nc")
		}
		p := proxytest.Start(t, wire.ProxyConfig{DeniedDomains: []string{"github.test:22"}, DeniedDomainReasons: map[string]string{"github.test:22": "Use an https:// remote"}})
		out, _ := exec.Command(ssh, "-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
			"-o", fmt.Sprintf("ProxyCommand=%s -X 5 -x %s %%h %%p", nc, p.Addr), "git@github.test").CombinedOutput()
		if strings.Contains(string(out), "invalid option") {
			t.Skip("this nc knows no proxies")
		}
		if !strings.Contains(string(out), "Use an https:// remote") {
			t.Errorf("%s", out)
		}
	})
}

func TestAllowedSSHIsATunnel(t *testing.T) {
	origin := proxytest.Origin(t, func(c *net.TCPConn) { io.WriteString(c, "SSH-2.0-server\r\n") })
	host, port := split(t, origin)
	c, reply := connect(t, proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{host}}), host, port)
	if b, err := io.ReadAll(c); reply != granted || err != nil || string(b) != "SSH-2.0-server\r\n" {
		t.Errorf("reply %d, %q, %v", reply, b, err)
	}
}

// TestGarbageAndFloods shows that rubbish and silent clients cost nothing that lasts, and that others are served meanwhile.
func TestGarbageAndFloods(t *testing.T) {
	origin := proxytest.Origin(t, echo)
	host, port := split(t, origin)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	before := runtime.NumGoroutine()
	for _, rubbish := range []string{"\x05", "\x05\x00", "\x05\xff\x00", "\x05\x01\x00\x05\x01\x00\x03\xff", "\x05\x01\x00\x04\x01\x00", "\x05\x01\x00\x05\x01\x00\x01\x7f", "\x05\x01\x02\x01\xff"} {
		c := proxytest.Dial(t, p.Addr)
		io.WriteString(c, rubbish)
		c.CloseWrite()
		io.Copy(io.Discard, c)
	}
	var silent []net.Conn
	for range 200 {
		c := proxytest.Dial(t, p.Addr)
		io.WriteString(c, "\x05")
		silent = append(silent, c)
	}
	if _, reply := connect(t, p, host, port); reply != granted {
		t.Errorf("reply %d during a flood", reply)
	}
	for _, c := range silent {
		c.Close()
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+5; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
