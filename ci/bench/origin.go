package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// bulkSize is how much one bulk transfer moves, in bytes.
const bulkSize = 1 << 30

// origins are the servers that the loads talk to, on the host's loopback.
type origins struct {
	echo, http, bulk, relay net.Listener
}

// serve starts them.
func serve() (*origins, error) {
	o := &origins{}
	for _, l := range []*net.Listener{&o.echo, &o.http, &o.bulk, &o.relay} {
		var err error
		if *l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	go accept(o.echo, func(c net.Conn) {
		buf := make([]byte, 64)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			if _, err := c.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	go accept(o.bulk, func(c net.Conn) {
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			return
		}
		block := make([]byte, 256<<10)
		for left := bulkSize; left > 0; left -= len(block) {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
	go accept(o.relay, func(c net.Conn) {
		up, err := net.Dial("tcp", o.bulk.Addr().String())
		if err != nil {
			return
		}
		defer up.Close()
		go func() { _, _ = io.Copy(up, c) }()
		_, _ = io.Copy(c, up) // splice, on Linux
	})
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			_, _ = io.WriteString(w, "ok")
		}),
	}
	go func() { _ = server.Serve(o.http) }()
	return o, nil
}

func (o *origins) close() {
	for _, l := range []net.Listener{o.echo, o.http, o.bulk, o.relay} {
		l.Close()
	}
}

// settings allow exactly these servers.
func (o *origins) settings(more ...string) string {
	allowed, _ := json.Marshal(append([]string{o.echo.Addr().String(), o.http.Addr().String(), o.bulk.Addr().String()}, more...))
	return fmt.Sprintf(`{"network":{"allowedDomains":%s}}`, allowed)
}

func accept(l net.Listener, handle func(net.Conn)) {
	var open sync.WaitGroup
	for {
		c, err := l.Accept()
		if err != nil {
			open.Wait()
			return
		}
		open.Go(func() {
			defer c.Close()
			handle(c)
		})
	}
}
