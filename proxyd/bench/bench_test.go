//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// The origins and clients here are as cheap as they can be written, so that proxyd's share is not hidden behind theirs.

var answer = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")

func httpOrigin(tb testing.TB) string {
	return proxytest.Origin(tb, func(c *net.TCPConn) {
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			if err != nil || !bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	})
}

func echoOrigin(tb testing.TB) string {
	return proxytest.Origin(tb, func(c *net.TCPConn) { io.Copy(c, c) })
}

// parallel runs one operation b.N times over n clients.
func parallel(b *testing.B, n int, client func(ops int) error) {
	b.ResetTimer()
	before := cpu()
	var wg sync.WaitGroup
	for i := range n {
		ops := b.N / n
		if i < b.N%n {
			ops++
		}
		wg.Go(func() {
			if err := client(ops); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op") // what counts when others use the machine too
}

// cpu is the processor time of this process: client, proxyd and origin together.
func cpu() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func keepAlive(addr, target string) func(int) error {
	request := []byte("GET " + target + " HTTP/1.1\r\nHost: x\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n")
	return func(ops int) error {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close()
		buf := make([]byte, 4096)
		for range ops {
			c.Write(request)
			n, err := c.Read(buf)
			if err != nil || !bytes.HasSuffix(buf[:n], []byte("\r\n\r\nok")) {
				return fmt.Errorf("answer %q, %v", buf[:n], err)
			}
		}
		return nil
	}
}

func BenchmarkKeepAlive(b *testing.B) {
	origin := httpOrigin(b)
	p := proxytest.Start(b, wire.ProxyConfig{AllowedDomains: []string{origin}})
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("direct/%d", n), func(b *testing.B) { parallel(b, n, keepAlive(origin, "/")) })
		b.Run(fmt.Sprintf("proxy/%d", n), func(b *testing.B) { parallel(b, n, keepAlive(p.Addr, "http://"+origin+"/")) })
	}
}

// session opens a connection, by way of a proxy's head when there is one, exchanges one byte and closes it.
func session(addr string, head []byte, reply int) func(int) error {
	return func(ops int) error {
		buf := make([]byte, 512)
		for range ops {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				return err
			}
			if head != nil {
				c.Write(head)
				if n, err := io.ReadFull(c, buf[:reply]); err != nil {
					return fmt.Errorf("after %q: %v", buf[:n], err)
				}
			}
			c.Write([]byte("x"))
			if _, err := io.ReadFull(c, buf[:1]); err != nil || buf[0] != 'x' {
				return fmt.Errorf("%q %v", buf[:1], err)
			}
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
		return nil
	}
}

func BenchmarkTunnels(b *testing.B) {
	origin := echoOrigin(b)
	p := proxytest.Start(b, wire.ProxyConfig{AllowedDomains: []string{origin}})
	bare := splice(b, origin)
	connect := []byte("CONNECT " + origin + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n")
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("direct/%d", n), func(b *testing.B) { parallel(b, n, session(origin, nil, 0)) })
		b.Run(fmt.Sprintf("relay/%d", n), func(b *testing.B) { parallel(b, n, session(bare, nil, 0)) })
		b.Run(fmt.Sprintf("connect/%d", n), func(b *testing.B) {
			parallel(b, n, session(p.Addr, connect, len("HTTP/1.1 200 Connection established\r\n\r\n")))
		})
		b.Run(fmt.Sprintf("socks/%d", n), func(b *testing.B) { parallel(b, n, socksSession(p.Addr, origin)) })
	}
}

func socksSession(addr, origin string) func(int) error {
	host, port, _ := net.SplitHostPort(origin)
	n, _ := strconv.Atoi(port)
	request := append([]byte{5, 1, 0, 1}, net.ParseIP(host).To4()...)
	request = append(request, byte(n>>8), byte(n))
	return session(addr, append([]byte{5, 1, 0}, request...), 2+10)
}

// splice is the floor: a relay that does nothing but move bytes.
func splice(tb testing.TB, to string) string {
	return proxytest.Origin(tb, func(c *net.TCPConn) {
		up, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer up.Close()
		go func() {
			io.Copy(up, c)
			up.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(c, up)
	})
}

func BenchmarkBulk(b *testing.B) {
	source := proxytest.Origin(b, func(c *net.TCPConn) {
		piece := make([]byte, 256<<10)
		for {
			if _, err := c.Write(piece); err != nil {
				return
			}
		}
	})
	p := proxytest.Start(b, wire.ProxyConfig{AllowedDomains: []string{source}})
	const size = 256 << 10
	pull := func(b *testing.B, addr string, head []byte) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		r := bufio.NewReaderSize(c, size)
		if head != nil {
			c.Write(head)
			for line := ""; line != "\r\n"; {
				if line, err = r.ReadString('\n'); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.SetBytes(size)
		buf := make([]byte, size)
		for b.Loop() {
			if _, err := io.ReadFull(r, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
	relay := splice(b, source)
	b.Run("splice", func(b *testing.B) { pull(b, relay, nil) })
	b.Run("connect", func(b *testing.B) { pull(b, p.Addr, []byte("CONNECT "+source+" HTTP/1.1\r\nHost: x\r\n\r\n")) })
}

// BenchmarkIdle reports what one idle tunnel costs proxyd: goroutines, heap and stacks (both ends of the test's own connections
// are in the process, too, and are counted before).
func BenchmarkIdle(b *testing.B) {
	const n = 1000
	origin := proxytest.Origin(b, func(c *net.TCPConn) { c.Read(make([]byte, 1)) })
	p := proxytest.Start(b, wire.ProxyConfig{AllowedDomains: []string{origin}})
	head := "CONNECT " + origin + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n"
	open := func(addr, head string) (close func()) {
		var conns []net.Conn
		for range n {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Fatal(err)
			}
			conns = append(conns, c)
			if head != "" {
				io.WriteString(c, head)
				io.ReadFull(c, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n")))
			}
		}
		return func() {
			for _, c := range conns {
				c.Close()
			}
		}
	}
	for b.Loop() {
		g0, m0 := usage()
		closeDirect := open(origin, "")
		g1, m1 := usage()
		closeTunnels := open(p.Addr, head)
		g2, m2 := usage()
		closeTunnels()
		closeDirect()
		b.ReportMetric(float64(g2-g1-(g1-g0))/n, "goroutines/tunnel")
		b.ReportMetric(float64(m2-m1-(m1-m0))/n/1024, "KB/tunnel")
		time.Sleep(200 * time.Millisecond)
	}
	if data, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "VmRSS") {
				b.Log(strings.TrimSpace(line))
			}
		}
	}
}

func usage() (goroutines int, bytes int64) {
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), int64(m.HeapInuse + m.StackInuse)
}
