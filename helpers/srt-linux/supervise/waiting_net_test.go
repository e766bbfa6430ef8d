package supervise

import (
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

func tcpConnects() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check("listen", err)
	port := l.Addr().(*net.TCPAddr).Port
	to := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	check("socket", err)
	check("blocking connect", unix.Connect(fd, to))
	if fl, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); fl&unix.O_NONBLOCK != 0 {
		fail("O_NONBLOCK stayed on")
	}
	if err := unix.Connect(fd, to); err != unix.EISCONN {
		fail("again: %v", err)
	}
	fd2, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check("socket", err)
	if err := unix.Connect(fd2, to); err != unix.EINPROGRESS && err != nil {
		fail("non-blocking: %v", err)
	}
	c, err := net.Dial("tcp", l.Addr().String())
	check("dial", err)
	c.Close()
	l.Close()
	fd3, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	check("socket", err)
	if err := unix.Connect(fd3, to); err != unix.ECONNREFUSED {
		fail("refused: %v", err)
	}
	u, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	check("socket", err)
	check("udp", unix.Connect(u, to))
	if err := unix.Connect(u, &unix.SockaddrUnix{Name: "x"}); err != unix.EAFNOSUPPORT && err != unix.EINVAL {
		fail("unix address on an inet socket: %v", err)
	}
	if err := unix.Connect(99, to); err != unix.EBADF {
		fail("no descriptor: %v", err)
	}
	if err := unix.Connect(0, to); err != unix.ENOTSOCK {
		fail("not a socket: %v", err)
	}
	fmt.Println("ok")
}

// fullBacklog: a blocking connect waits for room, a non-blocking one does not, SO_SNDTIMEO ends it.
func fullBacklog() {
	l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	check("socket", err)
	at := &unix.SockaddrUnix{Name: "s"}
	check("bind", unix.Bind(l, at))
	check("listen", unix.Listen(l, 1))
	full := 0
	for {
		c, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		err := unix.Connect(c, at)
		if err == unix.EAGAIN {
			break
		}
		check("fill", err)
		if full++; full > 100 {
			fail("the backlog never filled")
		}
	}
	timed, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	check("SO_SNDTIMEO", unix.SetsockoptTimeval(timed, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Usec: 100_000}))
	start := time.Now()
	if err := unix.Connect(timed, at); err != unix.EAGAIN || time.Since(start) < 90*time.Millisecond {
		fail("timed: %v after %v", err, time.Since(start))
	}
	done := make(chan error, 1)
	go func() {
		c, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		done <- unix.Connect(c, at)
	}()
	time.Sleep(100 * time.Millisecond)
	select {
	case err := <-done:
		fail("connected to a full backlog: %v", err)
	default:
	}
	for range full {
		_, _, err := unix.Accept(l)
		check("accept", err)
	}
	check("waiting connect", <-done)
	fmt.Println("ok")
}
