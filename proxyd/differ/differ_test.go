package differ

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// origin answers by the first element of the path and remembers what it was sent.
type origin struct {
	addr string
	mu   sync.Mutex
	seen []string // one text per connection that said something
}

func newOrigin(t *testing.T) *origin {
	o := &origin{}
	o.addr = proxytest.Origin(t, func(c *net.TCPConn) {
		c.SetDeadline(time.Now().Add(20 * time.Second))
		head, body, err := readMessage(bufio.NewReader(c))
		if head != "" {
			o.mu.Lock()
			o.seen = append(o.seen, head+body)
			o.mu.Unlock()
		}
		if err != nil {
			return
		}
		method, rest, _ := strings.Cut(head, " ")
		kind := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/? ", r) })[0]
		io.WriteString(c, response(kind, method))
	})
	return o
}

// take gives what arrived since the last call.
func (o *origin) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.seen
	o.seen = nil
	return seen
}

// readMessage reads one request as its framing says, byte for byte.
func readMessage(r *bufio.Reader) (head, body string, err error) {
	var b strings.Builder
	line := func() (string, error) {
		l, err := r.ReadString('\n')
		b.WriteString(l)
		return l, err
	}
	length, chunked := 0, false
	for {
		l, err := line()
		if err != nil {
			return b.String(), "", err
		}
		if l == "\r\n" {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(l), ":")
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		case "transfer-encoding":
			chunked = true
		}
	}
	head = b.String()
	b.Reset()
	if !chunked {
		buf := make([]byte, length)
		n, err := io.ReadFull(r, buf)
		return head, string(buf[:n]), err
	}
	for {
		l, err := line()
		if err != nil {
			return head, b.String(), err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(l), ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil {
			return head, b.String(), err
		}
		for n == 0 { // trailers
			if l, err = line(); err != nil || l == "\r\n" {
				return head, b.String(), err
			}
		}
		if _, err := io.CopyN(&b, r, n+2); err != nil {
			return head, b.String(), err
		}
	}
}

func response(kind, method string) string {
	head, body := "", ""
	switch kind {
	case "chunked":
		head, body = "200 OK\r\nTransfer-Encoding: chunked\r\n", "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"
	case "trailers":
		head, body = "200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", "3\r\nabc\r\n0\r\nX-Sum: 3\r\nx-other: 4\r\n\r\n"
	case "untilclose":
		head, body = "200 OK\r\nX-A: b\r\n", everyByte
	case "empty":
		head = "200 OK\r\nContent-Length: 0\r\n"
	case "nocontent":
		head = "204 No Content\r\nX-A: b\r\n"
	case "notmodified":
		head = "304 Not Modified\r\nETag: \"e\"\r\nContent-Length: 100\r\n"
	case "early":
		head, body = "103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "ok"
	case "odd":
		head, body = "299 My own: phrase\r\nzEbra:1\r\nSet-Cookie: a=b\r\nalpha:   2  \r\nSet-Cookie: c=d\r\nX-A: \xfe\r\nServer:\r\nContent-Length: 2\r\n", "ok"
	case "long":
		head, body = "404 Not Found\r\nContent-Length: 300000\r\n", strings.Repeat("0123456789", 30000)
	default:
		head, body = "200 OK\r\nContent-Type: text/plain\r\nContent-Length: 768\r\n", everyByte
	}
	if method == "HEAD" {
		body = ""
	}
	return "HTTP/1.1 " + head + "\r\n" + body
}

// send gives what comes back on one connection until its end.
func send(t *testing.T, addr, raw string) string {
	t.Helper()
	c := proxytest.Dial(t, addr)
	defer c.Close()
	if _, err := io.WriteString(c, raw); err != nil {
		return "not taken: " + err.Error()
	}
	b, err := io.ReadAll(c)
	if err != nil {
		return string(b) + "\nbroken off"
	}
	return string(b)
}

// documented are the headers that a proxy may drop, add or change: those of one connection, and Host, which names what was judged.
var documented = []string{"connection", "keep-alive", "proxy-connection", "te", "upgrade", "host"}

// without takes the documented headers out of the heads of a message, and the version out of its first line.
func without(message string, names ...string) string {
	head, body, _ := strings.Cut(message, "\r\n\r\n")
	if strings.HasPrefix(head, "HTTP/1.1 1") { // an informational answer has a head of its own
		return head + "\r\n\r\n" + without(body, names...)
	}
	var kept []string
	for i, l := range strings.Split(head, "\r\n") {
		name, _, _ := strings.Cut(l, ":")
		if i == 0 || !slices.Contains(names, strings.ToLower(name)) {
			kept = append(kept, strings.Replace(strings.Replace(l, " HTTP/1.0", " HTTP/1.1", 1), "HTTP/1.0 ", "HTTP/1.1 ", 1))
		}
	}
	return strings.Join(kept, "\r\n") + "\r\n\r\n" + body
}

// TestSameBytesAsWithoutProxy is the whole comparison with a direct connection.
func TestSameBytesAsWithoutProxy(t *testing.T) {
	o := newOrigin(t)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1", "[::1]"}})
	all := messages()
	if len(all) < 500 {
		t.Fatalf("%d requests", len(all))
	}
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			if m.hostile {
				answer := send(t, p.Addr, m.proxied(o.addr))
				if !strings.HasPrefix(answer, "HTTP/1.1 4") || !strings.Contains(answer, "\r\nX-Proxy-Error: ") {
					t.Errorf("it is answered by %.200q", answer)
				}
				if seen := o.take(); len(seen) > 0 {
					t.Errorf("the origin saw %.300q", seen)
				}
				return
			}
			wantAnswer := without(send(t, o.addr, m.straight(o.addr)), documented...)
			want := o.take()
			gotAnswer := without(send(t, p.Addr, m.proxied(o.addr)), documented...)
			got := o.take()
			if len(want) != 1 || len(got) != 1 {
				t.Fatalf("the origin saw %d and %d requests", len(want), len(got))
			}
			if w, g := without(want[0], documented...), without(got[0], documented...); w != g {
				t.Errorf("the origin saw\n%.400q\nwithout proxy\n%.400q", g, w)
			}
			if m.minor == 0 {
				wantAnswer = asHTTP10(wantAnswer)
			}
			if gotAnswer != wantAnswer {
				t.Errorf("the client saw\n%.400q\nwithout proxy\n%.400q", gotAnswer, wantAnswer)
			}
		})
	}
}

// asHTTP10 is what a client of HTTP/1.0 may get of an answer that was made for 1.1: no informational answers, no chunks.
func asHTTP10(answer string) string {
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	if strings.HasPrefix(head, "HTTP/1.1 1") {
		return asHTTP10(body)
	}
	if !strings.Contains(head, "\r\nTransfer-Encoding: chunked") {
		return answer
	}
	var plain strings.Builder
	for rest := body; ; {
		var line string
		line, rest, _ = strings.Cut(rest, "\r\n")
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil || n == 0 {
			break
		}
		plain.WriteString(rest[:n])
		rest = rest[n+2:]
	}
	return strings.Replace(head, "\r\nTransfer-Encoding: chunked", "", 1) + "\r\n\r\n" + plain.String()
}

// tinyproxy starts Debian's tinyproxy and gives its address.
func tinyproxy(t *testing.T) string {
	t.Helper()
	program := srttest.RequireTool(t, "tinyproxy")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	_, port, _ := net.SplitHostPort(addr)
	conf := filepath.Join(t.TempDir(), "tinyproxy.conf")
	text := fmt.Sprintf("Port %s\nListen 127.0.0.1\nTimeout 20\nMaxClients 20\nAllow 127.0.0.1\nDisableViaHeader Yes\nLogLevel Critical\n", port)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-d", "-c", conf)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("tinyproxy does not listen: %s", said.String())
	return ""
}

// TestNothingThatAnotherProxyPassesIsLost compares with tinyproxy: what that passes to the origin, proxyd passes too, in the
// same words. tinyproxy sorts headers in its own way and keeps one of each name, so this is what is compared.
func TestNothingThatAnotherProxyPassesIsLost(t *testing.T) {
	other := tinyproxy(t)
	o := newOrigin(t)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1"}})
	passed := 0
	for _, m := range messages() {
		if m.hostile || m.minor == 0 || strings.Contains(m.lines, "Trailer:") {
			continue // tinyproxy waits for ever for the end of a chunked request with trailers
		}
		theirAnswer := send(t, other, m.proxied(o.addr))
		theirs := o.take()
		if len(theirs) != 1 || !strings.HasPrefix(theirAnswer, "HTTP/1.") {
			continue // it lost the request itself
		}
		ourAnswer := send(t, p.Addr, m.proxied(o.addr))
		ours := o.take()
		passed++
		if len(ours) != 1 {
			t.Errorf("%s: passed by tinyproxy, not by proxyd: %.200q", m.name, ourAnswer)
			continue
		}
		if ours, theirs := sorted(ours[0]), sorted(theirs[0]); ours != theirs {
			t.Errorf("%s: the origin saw\n%.300q\nby tinyproxy\n%.300q", m.name, ours, theirs)
		}
		if ours, theirs := sorted(ourAnswer), sorted(theirAnswer); ours != theirs {
			t.Errorf("%s: the client saw\n%.300q\nby tinyproxy\n%.300q", m.name, ours, theirs)
		}
	}
	t.Logf("tinyproxy passed %d", passed)
	if passed < 300 {
		t.Errorf("tinyproxy passed %d requests only: the comparison is worth nothing", passed)
	}
}

// sorted brings the headers of a message into one order and spelling, and keeps the first of each name.
func sorted(message string) string {
	message = without(message, documented...)
	head, body, _ := strings.Cut(message, "\r\n\r\n")
	first, head, _ := strings.Cut(head, "\r\n")
	var names, lines []string
	for l := range strings.SplitSeq(head, "\r\n") {
		name, value, _ := strings.Cut(l, ":")
		if name = strings.ToLower(name); !slices.Contains(names, name) {
			names, lines = append(names, name), append(lines, name+": "+strings.TrimSpace(value))
		}
	}
	slices.Sort(lines)
	return first + "\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}
