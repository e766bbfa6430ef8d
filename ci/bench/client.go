package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// result is what a client prints.
type result struct {
	PerSecond float64
	Errors    int64
}

// client is the load generator: client KIND TARGET CLIENTS SPAN. It goes through the proxy that the environment names, if any.
// The kinds: connect (a tunnel, one echo, close), keepalive (requests on kept connections), bulk (one transfer, in GB/s) and idle
// (CLIENTS tunnels that are held until standard input ends). client stamp prints the time and ends.
func client(args []string) error {
	if len(args) == 1 && args[0] == "stamp" {
		_, err := fmt.Println(time.Now().UnixNano())
		return err
	}
	if len(args) != 4 {
		return fmt.Errorf("client: want KIND TARGET CLIENTS SPAN")
	}
	clients, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	span, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	target := args[1]
	var r result
	switch args[0] {
	case "connect":
		r = repeat(clients, span, func() func() error { return func() error { return oneTunnel(target) } })
	case "keepalive":
		r = repeat(clients, span, func() func() error { return keptRequests(target) })
	case "bulk":
		r, err = transfer(target)
	case "idle":
		return hold(target, clients)
	default:
		err = fmt.Errorf("client: no kind %q", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// repeat runs what newJob gives, in parallel, until the span is over.
func repeat(clients int, span time.Duration, newJob func() func() error) result {
	var done, failed atomic.Int64
	var all sync.WaitGroup
	if err := newJob()(); err != nil { // also starts what is started by the first connection
		failed.Add(1)
	}
	start := time.Now()
	for range clients {
		all.Go(func() {
			job := newJob()
			for time.Since(start) < span {
				if job() != nil {
					failed.Add(1)
				} else {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return result{float64(done.Load()) / time.Since(start).Seconds(), failed.Load()}
}

// dial opens a connection to target, through CONNECT when a proxy is set.
func dial(target string) (net.Conn, error) {
	proxy := os.Getenv("HTTP_PROXY")
	if proxy == "" {
		return net.Dial("tcp", target)
	}
	u, err := url.Parse(proxy)
	if err != nil {
		return nil, err
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		c.Close()
		return nil, err
	}
	r, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil) // the origin speaks second: nothing is read ahead
	if err != nil {
		c.Close()
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		c.Close()
		return nil, fmt.Errorf("CONNECT %s: %s", target, r.Status)
	}
	return c, nil
}

func oneTunnel(target string) error {
	c, err := dial(target)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("ping")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 4))
	return err
}

func keptRequests(target string) func() error {
	t := &http.Transport{MaxIdleConnsPerHost: 1}
	if proxy := os.Getenv("HTTP_PROXY"); proxy != "" { // by hand: Go's own rule never uses a proxy for a loopback target
		u, err := url.Parse(proxy)
		if err != nil {
			return func() error { return err }
		}
		t.Proxy = http.ProxyURL(u)
	}
	c := &http.Client{Transport: t}
	return func() error {
		r, err := c.Get("http://" + target + "/")
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return err
		}
		if r.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", target, r.Status)
		}
		return nil
	}
}

// transfer gives GB/s.
func transfer(target string) (result, error) {
	c, err := dial(target)
	if err != nil {
		return result{}, err
	}
	defer c.Close()
	start := time.Now()
	if _, err := io.WriteString(c, "go\n"); err != nil {
		return result{}, err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 256<<10))
	if err != nil {
		return result{}, err
	}
	if n != bulkSize {
		return result{}, fmt.Errorf("%d bytes arrived, want %d", n, bulkSize)
	}
	return result{PerSecond: float64(n) / 1e9 / time.Since(start).Seconds()}, nil
}

// hold opens tunnels, says so, and keeps them until its input ends.
func hold(target string, clients int) error {
	for i := range clients {
		c, err := dial(target)
		if err != nil {
			return fmt.Errorf("tunnel %d: %w", i, err)
		}
		defer c.Close()
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
