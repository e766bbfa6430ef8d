//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

var soak = flag.Int("soak", 1000, "how many connections TestSoak makes (scripts/soak: 100,000)")

// life is one connection from beginning to end; it says what it should have seen and did not.
type life func(c *net.TCPConn, r *bufio.Reader) error

// expect writes what is said and reads an answer that begins with want.
func expect(c io.Writer, r *bufio.Reader, said, want string) error {
	if _, err := io.WriteString(c, said); err != nil {
		return err
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		return fmt.Errorf("%.40q is answered by %q, %v", said, got, err)
	}
	return nil
}

// lives are all the ways in which a connection to the proxy begins and ends.
func lives(echo, web string) []life {
	const established = "HTTP/1.1 200 Connection established\r\n\r\n"
	open := "CONNECT " + echo + " HTTP/1.1\r\nHost: x\r\n\r\n"
	get := "GET http://" + web + "/ HTTP/1.1\r\nHost: x\r\n\r\n"
	return []life{
		func(c *net.TCPConn, r *bufio.Reader) error { return expect(c, r, open+"ping", established+"ping") },
		func(c *net.TCPConn, r *bufio.Reader) error { // half-closed
			if err := expect(c, r, open+"ping", established+"ping"); err != nil {
				return err
			}
			c.CloseWrite()
			_, err := io.Copy(io.Discard, r)
			return err
		},
		func(c *net.TCPConn, r *bufio.Reader) error { // reset
			defer c.SetLinger(0)
			return expect(c, r, open, established)
		},
		func(c *net.TCPConn, r *bufio.Reader) error { // large enough to be spliced
			block := bytes.Repeat([]byte("x"), 1<<20)
			if err := expect(c, r, open, established); err != nil {
				return err
			}
			go c.Write(block)
			_, err := io.CopyN(io.Discard, r, int64(len(block)))
			return err
		},
		func(c *net.TCPConn, r *bufio.Reader) error { // kept alive
			for range 3 {
				if err := expect(c, r, get, string(answer)); err != nil {
					return err
				}
			}
			return nil
		},
		func(c *net.TCPConn, r *bufio.Reader) error { // gives up
			defer c.SetLinger(0)
			_, err := io.WriteString(c, get)
			return err
		},
		func(c *net.TCPConn, r *bufio.Reader) error {
			return expect(c, r, "CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 Connection blocked by network allowlist\r\n")
		},
		func(c *net.TCPConn, r *bufio.Reader) error {
			return expect(c, r, "GET http://evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 403 Forbidden\r\n")
		},
		func(c *net.TCPConn, r *bufio.Reader) error {
			return expect(c, r, "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 502 ")
		},
		func(c *net.TCPConn, r *bufio.Reader) error {
			return expect(c, r, "rubbish\r\n\r\n", "HTTP/1.1 400 ")
		},
		func(c *net.TCPConn, r *bufio.Reader) error { // SOCKS by name, refused
			return expect(c, r, "\x05\x01\x00\x05\x01\x00\x03\x0cevil.example\x01\xbb", "\x05\x00\x05\x02")
		},
		func(*net.TCPConn, *bufio.Reader) error { return nil }, // says nothing
		func(c *net.TCPConn, _ *bufio.Reader) error { // half a head
			_, err := io.WriteString(c, "GET http://")
			return err
		},
	}
}

// TestSoak makes many connections of every kind and wants goroutines, descriptors and memory where they were after the first tenth.
func TestSoak(t *testing.T) {
	echo, web := echoOrigin(t), httpOrigin(t)
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{echo, web, "127.0.0.1:1"}})
	all := lives(echo, web)
	var next atomic.Int64
	run := func(until int64) {
		failed := make(chan error, 16)
		for range cap(failed) {
			go func() {
				for n := next.Add(1); n <= until; n = next.Add(1) {
					c, err := net.Dial("tcp", p.Addr)
					if err == nil {
						c.SetDeadline(time.Now().Add(time.Minute))
						err = all[n%int64(len(all))](c.(*net.TCPConn), bufio.NewReader(c))
						c.Close()
					}
					if err != nil {
						failed <- fmt.Errorf("connection %d: %w", n, err)
						return
					}
				}
				failed <- nil
			}()
		}
		for range cap(failed) {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		next.Store(until)
		p.Forget()
	}
	total := int64(*soak)
	run(total / 10)
	g0, f0, m0 := held()
	run(total)
	g1, f1, m1 := held()
	t.Logf("%d connections: goroutines %d → %d, descriptors %d → %d, memory in use %d → %d KB", total, g0, g1, f0, f1, m0>>10, m1>>10)
	if g1 > g0+3 || f1 > f0+3 {
		buf := make([]byte, 1<<20)
		t.Errorf("something is not given back\n%s", buf[:runtime.Stack(buf, true)])
	}
	if m1 > m0+m0/4+1<<20 {
		t.Errorf("memory grows: %d bytes, %d after the first tenth", m1, m0)
	}
}

// held waits until nothing is given back any more, and says what is held then.
func held() (goroutines, files int, memory int64) {
	goroutines, files, memory = 1<<30, 1<<30, 1<<62
	for range 10 {
		g, m := usage()
		entries, _ := os.ReadDir("/dev/fd")
		goroutines, files, memory = min(goroutines, g), min(files, len(entries)), min(memory, m)
	}
	return goroutines, files, memory
}
