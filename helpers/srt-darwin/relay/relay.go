// Package relay is the verb connect: it joins standard input and output to HOST:PORT through the sandbox's HTTP proxy, so that ssh
// works as `ProxyCommand srt-darwin connect %h %p` without socat or nc. It runs as the command does, inside the fence, and must never
// open a connection to anything but the proxy.
package relay

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// Main relays until both directions end and returns the exit status. A refusal is told on stderr, which ssh shows.
func Main(host, port string) int {
	if err := run(host, port, proxyAddr(os.Getenv), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "srt: %v\n", err)
		return 1
	}
	return 0
}

// proxyAddr takes the proxy from the variables that srt sets. The profile lets the command reach no other one.
func proxyAddr(getenv func(string) string) string {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} {
		if addr, ok := strings.CutPrefix(getenv(name), "http://"); ok {
			if a, err := netip.ParseAddrPort(strings.TrimSuffix(addr, "/")); err == nil && a.Addr().IsLoopback() {
				return a.String()
			}
		}
	}
	return ""
}

func run(host, port, proxy string, in io.Reader, out io.Writer) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("connect: port %q is not a number from 1 to 65535", port)
	}
	if host == "" || strings.ContainsAny(host, " \r\n\t\x00/@") {
		return fmt.Errorf("connect: %q is not a host name", host)
	}
	if proxy == "" {
		return fmt.Errorf("connect: HTTPS_PROXY names no proxy of srt's: the policy allows no network")
	}
	conn, err := net.Dial("tcp4", proxy)
	if err != nil {
		return fmt.Errorf("connect to the sandbox's proxy: %w", err)
	}
	defer conn.Close()
	target := net.JoinHostPort(host, port)
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return fmt.Errorf("connect %s: %w", target, err)
	}
	r := bufio.NewReader(conn)
	if err := readHead(r, target); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(conn, in) // the other direction says what went wrong
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	if _, err := io.Copy(out, r); err != nil {
		return fmt.Errorf("connect %s: %w", target, err)
	}
	return nil
}

// maxHead bounds the proxy's answer, in lines.
const maxHead = 100

// readHead reads the proxy's answer; its status phrase says why when it refuses.
func readHead(r *bufio.Reader, target string) error {
	status, err := r.ReadString('\n')
	for n := 0; err == nil; n++ {
		var line string
		if line, err = r.ReadString('\n'); strings.TrimSpace(line) == "" || n == maxHead {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("connect %s: the proxy closed the connection", target)
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(status), " ")
	if code, phrase, _ := strings.Cut(rest, " "); code != "200" {
		return fmt.Errorf("connect %s: %s", target, phrase)
	}
	return nil
}
