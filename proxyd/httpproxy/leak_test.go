package httpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/srt-dev/srt/proxyd/proxytest"
)

// TestNothingIsLeftBehind shows that goroutines and descriptors are given back, whatever way a connection ended.
func TestNothingIsLeftBehind(t *testing.T) {
	plain := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	raw := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		head, _ := readHead(r)
		if head != "" && head[0] == 'G' {
			io.WriteString(c, "HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		}
		io.Copy(c, r)
	})
	p := proxytest.Start(t, allow(plain, raw))
	ways := []func(c *client){
		func(c *client) { // several requests, then silence
			for range 3 {
				c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", plain)
				c.response("GET")
			}
		},
		func(c *client) { // a body in pieces
			c.send("POST http://%s/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", plain)
			c.send("3\r\nabc\r\n0\r\n\r\n")
			c.response("POST")
		},
		func(c *client) { // half a body
			c.send("POST http://%s/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc", plain)
		},
		func(c *client) { c.send("GET http://%s/ HTTP/1.1\r\nHos", plain) }, // half a head
		func(c *client) { // nobody waits for the answer
			c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", plain)
			c.SetLinger(0)
		},
		func(c *client) { c.connect(raw) },
		func(c *client) { // a tunnel with a half-close
			c.connect(raw)
			c.send("\r\n")
			c.CloseWrite()
			io.Copy(io.Discard, c)
		},
		func(c *client) { // a tunnel that is reset
			c.connect(raw)
			c.SetLinger(0)
		},
		func(c *client) { // an upgrade
			c.send("GET http://%s/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", raw)
			c.line()
		},
		func(c *client) { c.send("CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n") },
		func(c *client) { c.send("rubbish\r\n\r\n") },
		func(*client) {},
	}
	run := func(n int) {
		for i := range n {
			c := dial(t, p.Addr)
			ways[i%len(ways)](c)
			c.TCPConn.Close()
		}
	}
	run(2 * len(ways)) // what is made once
	goroutines, files := settle()
	run(40 * len(ways))
	if g, f := settle(); g > goroutines+3 || f > files+3 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines and %d descriptors, before %d and %d\n%s", g, f, goroutines, files, buf[:runtime.Stack(buf, true)])
	}
}

// settle waits until the numbers of goroutines and descriptors stop falling. The collector runs, because package net keeps the pipes
// that it splices through in a pool that only a collection empties.
func settle() (goroutines, files int) {
	goroutines, files = 1<<30, 1<<30
	for range 40 {
		runtime.GC()
		time.Sleep(25 * time.Millisecond)
		entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", os.Getpid()))
		goroutines, files = min(goroutines, runtime.NumGoroutine()), min(files, len(entries))
	}
	return goroutines, files
}
