package httpproxy_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

func TestEveryRequestOfAConnectionIsJudged(t *testing.T) {
	origin := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host+r.URL.Path) })
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	for i, want := range []int{200, 403, 200, 403} {
		host := origin
		if want == 403 {
			host = "evil.example"
		}
		c.send("GET http://%s/%d HTTP/1.1\r\nHost: %s\r\n\r\n", host, i, origin)
		if resp, body := c.response("GET"); resp.StatusCode != want || want == 200 && body != fmt.Sprintf("%s/%d", origin, i) {
			t.Errorf("request %d: %d %q", i, resp.StatusCode, body)
		}
	}
	t.Run("pipelined", func(t *testing.T) {
		c.send("GET http://%[1]s/a HTTP/1.1\r\nHost: x\r\n\r\nGET http://evil.example/ HTTP/1.1\r\nHost: %[1]s\r\n\r\nGET http://%[1]s/b HTTP/1.1\r\nHost: x\r\n\r\n", origin)
		for _, want := range []int{200, 403, 200} {
			if resp, body := c.response("GET"); resp.StatusCode != want {
				t.Errorf("%d %q, want %d", resp.StatusCode, body, want)
			}
		}
	})
	t.Run("a new configuration holds for the next request", func(t *testing.T) {
		p.Set(t, allow("other.example"))
		c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
		if resp, body := c.response("GET"); resp.StatusCode != 403 {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	})
}

func TestARequestInOriginFormBehindAnAllowedOneIsNotFollowed(t *testing.T) {
	origin := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) })
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
	c.response("GET")
	c.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
	if resp, _ := c.response("GET"); resp.StatusCode != 400 || resp.Header.Get("X-Proxy-Error") != "not-a-proxy-request" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	p.Violation(t, "/", "not a request to a proxy")
	c.atEnd()
}

func TestBodiesArriveWhole(t *testing.T) {
	origin := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		n, err := io.Copy(h, r.Body)
		fmt.Fprintf(w, "%d %x %v %v %s", n, h.Sum(nil), err, r.TransferEncoding, r.Trailer.Get("X-Sum"))
	})
	p := proxytest.Start(t, allow(origin))
	body := make([]byte, 5<<20)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	sum := sha256.Sum256(body)
	c := dial(t, p.Addr)
	for range 2 { // on one connection
		c.send("PUT http://%s/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", origin, len(body))
		c.Write(body)
		if resp, got := c.response("PUT"); resp.StatusCode != 200 || got != fmt.Sprintf("%d %x <nil> [] ", len(body), sum) {
			t.Fatalf("with a length: %d %s", resp.StatusCode, got)
		}
		c.send("POST http://%s/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nTrailer: X-Sum\r\n\r\n", origin)
		for piece := range bytes.Lines(body) {
			c.send("%x;ext=\"1\"\r\n%s\r\n", len(piece), piece)
		}
		c.send("0\r\nX-Sum: 7\r\n\r\n")
		if resp, got := c.response("POST"); resp.StatusCode != 200 || got != fmt.Sprintf("%d %x <nil> [chunked] 7", len(body), sum) {
			t.Fatalf("chunked: %d %s", resp.StatusCode, got)
		}
	}
}

func TestNothingIsHeldBack(t *testing.T) {
	for name, head := range map[string]string{
		"server-sent events": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		"chunked":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"with a length":      "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n",
		"until the end":      "HTTP/1.1 200 OK\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			next := make(chan string)
			chunked := strings.Contains(head, "chunked")
			origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(c, head)
				for piece := range next {
					if chunked {
						fmt.Fprintf(c, "%x\r\n%s\r\n", len(piece), piece)
					} else {
						io.WriteString(c, piece)
					}
					if piece == "data: 3\n\n..." {
						return
					}
				}
			})
			p := proxytest.Start(t, allow(origin))
			c := dial(t, p.Addr)
			c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
			resp, err := http.ReadResponse(c.Reader, nil) // the head comes before the body exists
			if err != nil {
				t.Fatal(err)
			}
			for _, piece := range []string{"data: 1\n\n", "data: 2\n\n", "data: 3\n\n..."} {
				next <- piece
				got := make([]byte, len(piece))
				if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != piece {
					t.Fatalf("%q, %v; want %q", got, err, piece)
				}
			}
		})
	}
}

func TestBothDirectionsAtOnce(t *testing.T) {
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for {
			line, err := r.ReadString('\n') // the chunks of the request become those of the response
			if err != nil {
				return
			}
			io.WriteString(c, line)
		}
	})
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	c.send("POST http://%s/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", origin)
	resp, err := http.ReadResponse(c.Reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two", "six"} {
		c.send("3\r\n%s\r\n", word)
		got := make([]byte, 3)
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != word {
			t.Fatalf("%q, %v", got, err)
		}
	}
	c.send("0\r\n\r\n")
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestExpectContinue(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"the origin wants the body":   {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue"},
		"the origin refuses the body": {"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "HTTP/1.1 413 Content Too Large"},
		"the origin says nothing":     {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			origin := rawOrigin(t, func(conn net.Conn, r *bufio.Reader) {
				head, _ := readHead(r)
				if !strings.Contains(head, "Expect: 100-continue\r\n") {
					t.Errorf("the origin saw %q", head)
				}
				io.WriteString(conn, c.answer)
				if strings.Contains(c.answer, " 413 ") {
					return
				}
				body := make([]byte, 5)
				io.ReadFull(r, body)
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n%s", body)
			})
			p := proxytest.Start(t, allow(origin))
			conn := dial(t, p.Addr)
			conn.send("POST http://%s/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", origin)
			if c.want != "" {
				if got := conn.line(); got != c.want {
					t.Fatalf("%q, want %q", got, c.want)
				}
				conn.line()
			}
			if !strings.Contains(c.want, "413") { // a client that hears nothing sends after a while
				conn.send("hello")
				if resp, body := conn.response("POST"); resp.StatusCode != 200 || body != "hello" {
					t.Errorf("%d %q", resp.StatusCode, body)
				}
			}
		})
	}
}

func TestHTTP10(t *testing.T) {
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
	})
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	c.send("GET http://%s/ HTTP/1.0\r\n\r\n", origin)
	if all, err := io.ReadAll(c); err != nil || string(all) != "HTTP/1.0 200 OK\r\n\r\nhi" {
		t.Errorf("%q, %v", all, err)
	}
}

func TestAnOriginThatAnswersEarly(t *testing.T) {
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, io.LimitReader(r, 100_000))
	})
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	c.send("PUT http://%s/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n", origin)
	go c.Write(make([]byte, 30<<20)) // and the rest never comes
	resp, body := c.response("PUT")
	if resp.StatusCode != 413 || body != "large" || !resp.Close {
		t.Errorf("%d %q, close %v", resp.StatusCode, body, resp.Close)
	}
}

func TestATruncatedBodyIsSeenAsTruncated(t *testing.T) {
	for name, answer := range map[string]string{
		"with a length": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
		"chunked":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(c, answer)
			})
			p := proxytest.Start(t, allow(origin))
			c := dial(t, p.Addr)
			c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
			resp, err := http.ReadResponse(c.Reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(resp.Body); err != io.ErrUnexpectedEOF || string(body) != "half" {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}

func TestBadOrigins(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":               "",
		"not HTTP":              "SSH-2.0-x\r\n\r\n",
		"half a head":           "HTTP/1.1 200 OK\r\nContent-Le",
		"an endless head":       "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 300),
		"two lengths":           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"an upgrade unasked":    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"a length that is none": "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"a name that is none":   "HTTP/1.1 200 OK\r\nX-\xfc: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(c, answer)
			})
			p := proxytest.Start(t, allow(origin))
			resp, body := ask(t, p, "GET http://"+origin+"/ HTTP/1.1\r\nHost: x\r\n\r\n")
			want := "srt could not connect to " + origin + ": the host closed the connection or sent what is not HTTP\n"
			if resp.StatusCode != 502 || resp.Header.Get("X-Proxy-Error") != "bad-response" || body != want {
				t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
			}
			if v := p.Events(wire.EventViolation); len(v) > 0 {
				t.Errorf("a failure was reported as a refusal: %+v", v[0].Violation)
			}
		})
	}
	t.Run("a closed port", func(t *testing.T) {
		f, addr := proxytest.Listener(t)
		f.Close()
		p := proxytest.Start(t, allow(addr))
		for _, head := range []string{"GET http://" + addr + "/", "CONNECT " + addr} {
			resp, body := ask(t, p, head+" HTTP/1.1\r\nHost: x\r\n\r\n")
			if resp.StatusCode != 502 || resp.Header.Get("X-Proxy-Error") != "connection-refused" || body != "srt could not connect to "+addr+": the host refused the connection\n" {
				t.Errorf("%s: %d %v %q", head, resp.StatusCode, resp.Header, body)
			}
		}
	})
}

func TestAnIdleOriginConnectionThatWasClosed(t *testing.T) {
	var served atomic.Int32
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) { // one response a connection, without saying so
		served.Add(1)
		if _, err := readHead(r); err == nil {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
			time.Sleep(20 * time.Millisecond)
		}
	})
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	for i, pause := range []time.Duration{0, 60 * time.Millisecond, 60 * time.Millisecond} {
		time.Sleep(pause)
		c.send("POST http://%s/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", origin)
		if resp, body := c.response("POST"); resp.StatusCode != 200 || body != "hi" {
			t.Errorf("request %d: %d %q", i, resp.StatusCode, body)
		}
	}
	if n := served.Load(); n != 3 {
		t.Errorf("%d connections", n)
	}
}

func TestAnOriginConnectionIsUsedAgain(t *testing.T) {
	conns := make(chan string, 10)
	origin := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) { conns <- r.RemoteAddr })
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	get := func(c *client) string {
		c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
		c.response("GET")
		return <-conns
	}
	first := get(c)
	if second := get(c); second != first {
		t.Errorf("the second request came from %s, the first from %s", second, first)
	}
	if other := get(dial(t, p.Addr)); other == first {
		t.Error("another client got the first one's connection")
	}
	p.Set(t, allow(origin))
	if third := get(c); third == first {
		t.Error("a connection of the old configuration is used under the new one")
	}
}

func TestAClientThatGivesUpFreesTheOrigin(t *testing.T) {
	ended := make(chan error, 1)
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		_, err := r.ReadByte()
		ended <- err
	})
	p := proxytest.Start(t, allow(origin))
	c := dial(t, p.Addr)
	c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", origin)
	time.Sleep(50 * time.Millisecond)
	c.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the origin is still waited for")
	}
}
