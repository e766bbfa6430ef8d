// Package relay is the verb connect: it joins standard input and output to HOST:PORT through the sandbox's HTTP proxy, so that ssh
// works as `ProxyCommand /dev/srt/connect %h %p` without socat or nc. It runs as the command does, inside the fence, and must never
// open a connection to anything but the proxy.
package relay

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// dialTimeout bounds the connection to the proxy, which is on loopback.
const dialTimeout = 10 * time.Second

// Main relays until both directions end and returns the exit status. A refusal is told on stderr, which ssh shows.
func Main(host, port string) int {
	if err := run(host, port, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "srt: %v\n", err)
		return 1
	}
	return 0
}

func run(host, port string, in io.Reader, out io.Writer) error {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return fmt.Errorf("connect: port %q is not a number from 1 to 65535", port)
	}
	if host == "" || strings.ContainsAny(host, " \r\n\t\x00/@") {
		return fmt.Errorf("connect: %q is not a host name", host)
	}
	c, err := net.DialTimeout("tcp", wire.LinuxProxyAddr, dialTimeout)
	if err != nil {
		return fmt.Errorf("connect to the sandbox's proxy: %w", err)
	}
	defer c.Close()
	target := net.JoinHostPort(host, port)
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return fmt.Errorf("connect %s: %w", target, err)
	}
	r := bufio.NewReader(c)
	if err := readHead(r, target); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(c, in)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	if _, err := io.Copy(out, r); err != nil {
		return fmt.Errorf("connect %s: %w", target, err)
	}
	return nil
}

// readHead reads the proxy's answer; its status phrase says why when it refuses.
func readHead(r *bufio.Reader, target string) error {
	status, err := r.ReadString('\n')
	if err != nil {
		return fmt.Errorf("connect %s: the proxy closed the connection", target)
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(status), " ")
	code, phrase, _ := strings.Cut(rest, " ")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return fmt.Errorf("connect %s: the proxy closed the connection", target)
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
	}
	if code != "200" {
		return fmt.Errorf("connect %s: %s", target, phrase)
	}
	return nil
}
