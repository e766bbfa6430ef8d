// Package relay moves bytes between two connections until both directions are finished, each half closed on its own. It must never look
// at the bytes, hold them, or put something around a connection that the kernel could have spliced.
package relay

import (
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/srt-dev/srt/proxyd/limits"
)

// Conn is a connection that can be half closed.
type Conn interface {
	net.Conn
	CloseWrite() error
}

// Both moves bytes both ways and closes both connections at the end. An error of one direction ends both; an end of file is passed on
// and leaves the other direction open.
func Both(a, b Conn) {
	defer a.Close()
	defer b.Close()
	var ended atomic.Bool // one direction, in good order
	done := make(chan struct{})
	go func() {
		defer close(done)
		oneWay(a, b, &ended)
	}()
	oneWay(b, a, &ended)
	<-done
}

// Start does what Both does, on goroutines of its own whose stacks are as small as can be: the caller's, which parsed and dialled, would
// be held as long as the tunnel lives.
func Start(a, b Conn) {
	var ended atomic.Bool
	var left atomic.Int32
	left.Store(2)
	way := func(dst, src Conn) {
		oneWay(dst, src, &ended)
		if left.Add(-1) == 0 {
			a.Close()
			b.Close()
		}
	}
	go way(a, b)
	go way(b, a)
}

func oneWay(dst, src Conn, ended *atomic.Bool) {
	if _, err := io.Copy(dst, src); err != nil { // ends the other direction too
		passReset(dst, err)
		dst.Close()
		src.Close()
		return
	}
	if !ended.Swap(true) { // the second end is told by the close that follows
		dst.CloseWrite()
	}
}

// passReset makes the coming Close of dst a reset when its other side was reset: to end it in good order would tell a lie.
func passReset(dst io.Writer, err error) {
	if c, ok := dst.(interface{ SetLinger(int) error }); ok && wasReset(err) {
		c.SetLinger(0)
	}
}

// Linger ends a connection whose last words were just written: the client gets them before the reset that unread bytes would cause.
func Linger(c Conn) {
	defer c.Close()
	if c.CloseWrite() != nil {
		return
	}
	c.SetReadDeadline(time.Now().Add(limits.Linger))
	io.Copy(io.Discard, io.LimitReader(c, 1<<20))
}
