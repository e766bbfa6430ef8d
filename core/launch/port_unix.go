//go:build linux || darwin

package launch

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// portTries bounds the search for a number that is free on both loopback addresses.
const portTries = 64

// ownPort listens on a port of 127.0.0.1 and holds the same one of ::1, where nobody listens: macOS's rule for a port means both
// addresses, so whoever took the other one would be reachable from inside. held is -1 on a machine without IPv6.
func ownPort() (listener, held, port int, err error) {
	for range portTries {
		if listener, port, err = listenLoopback(); err != nil {
			break
		}
		if held, err = holdLoopback6(port); err == nil {
			return listener, held, port, nil
		}
		unix.Close(listener)
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
	}
	return -1, -1, 0, fmt.Errorf("take a port of both loopback addresses: %w", err)
}

func listenLoopback() (fd, port int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, 0, err
	}
	unix.CloseOnExec(fd)
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	var name unix.Sockaddr
	if err == nil {
		name, err = unix.Getsockname(fd)
	}
	if in, ok := name.(*unix.SockaddrInet4); ok && err == nil {
		return fd, in.Port, nil
	}
	unix.Close(fd)
	return -1, 0, err
}

// holdLoopback6 binds the port without listening, so that connections to it are refused.
func holdLoopback6(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	err = unix.Bind(fd, &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}})
	if err == nil {
		return fd, nil
	}
	unix.Close(fd)
	if errors.Is(err, unix.EADDRNOTAVAIL) {
		return -1, nil
	}
	return -1, err
}
