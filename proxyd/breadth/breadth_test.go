package breadth_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/breadth"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// TestWorkGetsEveryProcessor shows that many connections and bulk data end the narrow start, and that a few connections do not.
func TestWorkGetsEveryProcessor(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("there is one processor")
	}
	t.Cleanup(breadth.Widen)
	origin := proxytest.Origin(t, func(c *net.TCPConn) { io.Copy(c, c) })
	p := proxytest.Start(t, wire.ProxyConfig{AllowedDomains: []string{origin}})
	tunnel := func() *net.TCPConn {
		c := proxytest.Dial(t, p.Addr)
		io.WriteString(c, "CONNECT "+origin+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := io.ReadFull(c, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			t.Fatal(err)
		}
		return c
	}

	breadth.Narrow()
	first := tunnel()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("%d processors for one connection", n)
	}
	for range limits.Narrow {
		tunnel()
	}
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("%d processors of %d for %d connections", n, all, limits.Narrow+1)
	}

	breadth.Narrow()
	piece := bytes.Repeat([]byte("x"), 1<<20)
	go io.Copy(io.Discard, first)
	for deadline := time.Now().Add(10 * time.Second); runtime.GOMAXPROCS(0) != all; {
		if time.Now().After(deadline) {
			t.Fatal("bulk data got one processor")
		}
		if _, err := first.Write(piece); err != nil {
			t.Fatal(err)
		}
	}

	web := proxytest.Origin(t, func(c *net.TCPConn) {
		c.Read(make([]byte, 1000))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
		c.Write(piece[:1_000_000])
	})
	p.Set(t, wire.ProxyConfig{AllowedDomains: []string{web}})
	breadth.Narrow()
	c := proxytest.Dial(t, p.Addr)
	io.WriteString(c, "GET http://"+web+"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if n, err := io.Copy(io.Discard, c); err != nil || n < 1_000_000 || runtime.GOMAXPROCS(0) != all {
		t.Errorf("%d processors for a large body (%d bytes, %v)", runtime.GOMAXPROCS(0), n, err)
	}
}
