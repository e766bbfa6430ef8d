package near

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/proxyd/breadth"
	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/limits"
)

const (
	batch = 64 // events, and connections, that are taken at once
	// steady is how many batches in a row say that there is work for more than one processor.
	steady = 64
	// patience is how long a client that says nothing is waited for here.
	patience = time.Second
)

// A lane serves one listener. Its own epoll descriptor is what its goroutine waits for: the Go scheduler is asked once for any number of
// events, and no thread is tied up.
type lane struct {
	cmd *client.Command
	way Way

	poll     *os.File // ep
	ep       int
	listener int

	place   bool        // the next connection has its place among the command's
	granted atomic.Bool // a place was waited for and found

	tunnels []*tunnel // by descriptor, each twice
	open    int       // tunnels
	last    uint32    // of the marks
	hearing bool      // clients are waited for that have said nothing
	fresh   *tunnel   // accepted in this moment
	buf     [limits.CopyBuffer]byte
	events  [batch]unix.EpollEvent
}

// Serve accepts on ln until the command ends. False: it cannot, and has left ln alone.
func Serve(cmd *client.Command, ln *net.TCPListener, way Way) bool {
	l := &lane{cmd: cmd, way: way, listener: -1}
	raw, err := ln.SyscallConn()
	if err != nil {
		return false
	}
	cerr := raw.Control(func(fd uintptr) { l.listener, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if cerr != nil || err != nil {
		return false
	}
	if l.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		unix.Close(l.listener)
		return false
	}
	unix.SetNonblock(l.ep, true) // what os.NewFile asks for a descriptor that is waited for
	l.poll = os.NewFile(uintptr(l.ep), "near")
	defer l.end()
	rounds, err := l.poll.SyscallConn()
	if err != nil || l.control(unix.EPOLL_CTL_ADD, unix.EPOLLIN) != nil {
		return false
	}
	unix.SetsockoptInt(l.listener, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // what is accepted inherits it
	ln.Close()                                                            // the Go scheduler would wake up for each connection too
	stop := context.AfterFunc(cmd.Context(), func() { l.poll.Close() })
	defer stop()
	for errors.Is(rounds.Read(l.rounds), os.ErrDeadlineExceeded) {
		l.passSilent()
	}
	return true
}

// rounds handles what is ready; false means that nothing is any more, true that nothing ever will be.
func (l *lane) rounds(uintptr) bool {
	for n := 0; ; n++ {
		got, err := unix.EpollWait(l.ep, l.events[:], 0)
		if err == unix.EINTR {
			continue
		}
		if got <= 0 {
			return err != nil
		}
		for i := range l.events[:got] {
			l.handle(&l.events[i])
		}
		if n == steady {
			breadth.Widen()
		}
	}
}

// end closes everything.
func (l *lane) end() {
	l.poll.Close()
	unix.Close(l.listener)
	for fd, t := range l.tunnels {
		if t != nil {
			unix.Close(fd) // the command is over: nobody counts its places any more
		}
	}
}

func (l *lane) handle(e *unix.EpollEvent) {
	fd := int(e.Fd)
	defer l.survive(fd)
	if fd == l.listener {
		l.accept()
		return
	}
	switch t := l.tunnel(fd); {
	case t == nil || t.mark != uint32(e.Pad): // ended in this round
	case t.origin < 0:
		if l.hear(t); l.tunnel(fd) == t && t.origin >= 0 { // what came behind its head had no event of its own
			l.move(t, fd, e.Events)
		}
	default:
		l.move(t, fd, e.Events)
	}
}

func (l *lane) tunnel(fd int) *tunnel {
	if fd < len(l.tunnels) {
		return l.tunnels[fd]
	}
	return nil
}

// survive makes a fault cost one connection only.
func (l *lane) survive(fd int) {
	r := recover()
	if r == nil {
		return
	}
	stack := debug.Stack()
	if l.fresh != nil {
		l.drop(l.fresh)
	} else if t := l.tunnel(fd); t != nil {
		l.drop(t)
	}
	l.fresh = nil
	l.way.Broken(r, stack)
}

// control changes what is waited for on the listener. It may be called from anywhere.
func (l *lane) control(op int, events uint32) error {
	return unix.EpollCtl(l.ep, op, l.listener, &unix.EpollEvent{Events: events, Fd: int32(l.listener)})
}

// accept takes what waits. A connection that nothing can be done for here goes to Serve.
func (l *lane) accept() {
	for range batch {
		if !l.reserve() {
			return
		}
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			l.begin(fd)
		case unix.EINTR, unix.ECONNABORTED:
		case unix.EAGAIN:
			return
		default: // descriptors or memory are short: others may give some back
			l.pause(func() { time.Sleep(50 * time.Millisecond) })
			return
		}
	}
}

// reserve sees to it that the command may have one more connection; else the listener is left alone until it may.
func (l *lane) reserve() bool {
	l.place = l.place || l.granted.CompareAndSwap(true, false) || l.cmd.TryReserve()
	if !l.place {
		l.way.Full()
		l.pause(func() { l.granted.Store(l.cmd.Reserve(func() {})) })
	}
	return l.place
}

// pause leaves the listener alone until wait returns.
func (l *lane) pause(wait func()) {
	l.control(unix.EPOLL_CTL_MOD, 0)
	go func() {
		wait()
		if rc, err := l.poll.SyscallConn(); err == nil {
			rc.Control(func(uintptr) { l.control(unix.EPOLL_CTL_MOD, unix.EPOLLIN) }) // not behind the end of the lane
		}
	}()
}

// begin takes a connection in.
func (l *lane) begin(fd int) {
	t := &tunnel{client: fd, origin: -1, ended: -1}
	l.place, l.fresh = false, t
	if l.way.Hears {
		l.hear(t)
	} else {
		l.connect(t, nil)
	}
	l.fresh = nil
}

// hear reads what the client says first.
func (l *lane) hear(t *tunnel) {
	n, err := unix.Read(t.client, l.buf[:headRoom])
	switch {
	case n > 0:
		l.connect(t, l.buf[:n])
	case err != unix.EAGAIN:
		l.drop(t)
	case t.mark == 0: // not yet; later, it is not here that it is waited for any longer
		if !l.watch(t, t.client) {
			l.drop(t)
		} else if !l.hearing {
			l.hearing = true
			l.poll.SetReadDeadline(time.Now().Add(patience))
		}
	}
}

// passSilent gives the clients that have said nothing to Serve, which has limits for them.
func (l *lane) passSilent() {
	l.hearing = false
	l.poll.SetReadDeadline(time.Time{})
	for _, t := range l.tunnels {
		if t != nil && t.origin < 0 {
			l.serve(t, nil)
		}
	}
}

// connect opens the tunnel, all at once or not at all.
func (l *lane) connect(t *tunnel, said []byte) {
	opened, ok := l.way.Open(said)
	if !ok {
		l.serve(t, said)
		return
	}
	t.origin = opened.Socket
	l.open++
	if l.open > limits.Narrow {
		breadth.Widen()
	}
	if !send(t.client, opened.Answer) || !send(t.origin, opened.Early) || // fresh sockets have room: nobody is there any more
		t.mark == 0 && !l.watch(t, t.client) || !l.watch(t, t.origin) {
		l.drop(t)
	}
}

// serve gives a connection that cannot be served here to Serve.
func (l *lane) serve(t *tunnel, said []byte) {
	l.forget(t, true)
	if c := l.adopt(t.client, bytes.Clone(said)); c != nil {
		go l.way.Serve(c)
	}
}

// adopt makes an ordinary connection of a client's socket, which is the callee's; nil when that cannot be.
func (l *lane) adopt(fd int, said []byte) *client.Conn {
	c := asConn(fd)
	if c == nil {
		l.cmd.Release()
		return nil
	}
	conn := l.cmd.Adopt(c)
	if conn != nil {
		conn.Unread(said)
	}
	return conn
}

// asConn hands a socket over to the Go scheduler; nil when that cannot be, and then it is closed.
func asConn(fd int) *net.TCPConn {
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		c.Close()
		return nil
	}
	return tcp
}
