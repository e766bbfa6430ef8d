// Package relay is the verb connect: it joins standard input and output to HOST:PORT through the sandbox's HTTP proxy, so that ssh
// works as `ProxyCommand /dev/srt/connect %h %p` without socat or nc. It runs as the command does, inside the fence, and must never
// open a connection to anything but the proxy.
package relay

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

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
	c, err := dial()
	if err != nil {
		return fmt.Errorf("connect to the sandbox's proxy: %w", err)
	}
	defer c.Close()
	target := host + ":" + port
	if strings.Contains(host, ":") {
		target = "[" + host + "]:" + port
	}
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return fmt.Errorf("connect %s: %w", target, err)
	}
	r := bufio.NewReader(c)
	if err := readHead(r, target); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(c, in)
		_ = unix.Shutdown(int(c.Fd()), unix.SHUT_WR)
	}()
	if _, err := io.Copy(out, r); err != nil {
		return fmt.Errorf("connect %s: %w", target, err)
	}
	return nil
}

// dial connects to the proxy's listener inside the sandbox. Plain system calls: package net would cost every start of the init.
func dial() (*os.File, error) {
	addr, err := netip.ParseAddrPort(wire.LinuxProxyAddr)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), wire.LinuxProxyAddr), nil
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
