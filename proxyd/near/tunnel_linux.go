package near

import (
	"bytes"
	"io"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/relay"
)

// headRoom is how much of what a client says first is looked at here: more than any CONNECT needs.
const headRoom = 4 << 10

// bulk is how many full buffers in a row make a tunnel busy: then package relay moves its bytes, without us copying them.
const bulk = 4

// tunnel is an open tunnel. It holds its place among the command's connections.
type tunnel struct {
	client, origin int    // origin is -1 until the client has said where to
	mark           uint32 // what its events carry: an event of a descriptor's last owner is told by it; 0 before the first is waited for
	ended          int    // the side that ended in good order, or -1
	full           uint8
}

// watch makes fd, a socket of t, be waited for. What has arrived already counts as an event.
func (l *lane) watch(t *tunnel, fd int) bool {
	if t.mark == 0 {
		l.last++
		t.mark = l.last
	}
	if fd >= len(l.tunnels) {
		l.tunnels = append(l.tunnels, make([]*tunnel, fd+batch-len(l.tunnels))...)
	}
	l.tunnels[fd] = t
	return unix.EpollCtl(l.ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd), Pad: int32(t.mark)}) == nil
}

// forget makes the lane know nothing of t any more. Sockets that are not closed now need stay.
func (l *lane) forget(t *tunnel, stay bool) {
	if l.fresh == t {
		l.fresh = nil
	}
	for _, fd := range []int{t.client, t.origin} {
		if fd < 0 || l.tunnel(fd) != t {
			continue
		}
		l.tunnels[fd] = nil
		if stay {
			unix.EpollCtl(l.ep, unix.EPOLL_CTL_DEL, fd, nil)
		}
	}
	if t.origin >= 0 {
		l.open--
	}
}

// drop ends t.
func (l *lane) drop(t *tunnel) {
	l.forget(t, false)
	unix.Close(t.client)
	if t.origin >= 0 {
		unix.Close(t.origin)
	}
	l.cmd.Release()
}

// move moves what fd has to the other side, as package relay does: an end of file is passed on and leaves the other direction open, an
// error ends both.
func (l *lane) move(t *tunnel, fd int, events uint32) {
	to := t.client
	if fd == to {
		to = t.origin
	}
	for {
		n, err := unix.Read(fd, l.buf[:])
		switch {
		case err == unix.EAGAIN:
			return
		case err == unix.EINTR:
			continue
		case err != nil:
			passReset(to, err)
			l.drop(t)
			return
		case n == 0:
			l.finish(t, fd, to, events)
			return
		}
		sent, err := unix.Write(to, l.buf[:n])
		if err != nil && err != unix.EAGAIN && err != unix.EINTR {
			l.drop(t)
			return
		}
		sent = max(sent, 0)
		if n < len(l.buf) {
			t.full = 0
		} else {
			t.full++
		}
		if sent < n || t.full >= bulk {
			l.pass(t, fd, l.buf[sent:n])
			return
		}
		if n < len(l.buf) && events == unix.EPOLLIN { // all there was
			return
		}
	}
}

// finish takes notice of an end of file of fd.
func (l *lane) finish(t *tunnel, fd, to int, events uint32) {
	switch {
	case t.ended < 0:
		t.ended = fd
		unix.Shutdown(to, unix.SHUT_WR)
	case t.ended != fd: // the close tells the second end
		l.drop(t)
	case events&unix.EPOLLERR != 0: // told before, and a reset now
		passReset(to, unix.ECONNRESET)
		l.drop(t)
	}
}

func passReset(fd int, err error) {
	if err == unix.ECONNRESET {
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
}

// pass gives t to package relay, with what was read from one side and not yet written to the other.
func (l *lane) pass(t *tunnel, from int, rest []byte) {
	l.forget(t, true)
	origin := asConn(t.origin)
	if origin == nil {
		unix.Close(t.client)
		l.cmd.Release()
		return
	}
	var said []byte
	up := &resumed{TCP: egress.TCP{TCPConn: origin}}
	if from == t.client {
		said = bytes.Clone(rest)
	} else {
		up.said = bytes.Clone(rest)
	}
	c := l.adopt(t.client, said)
	if c == nil {
		origin.Close()
		return
	}
	relay.Start(c, up)
}

// resumed is a connection of which something was read already.
type resumed struct {
	egress.TCP
	said []byte
}

// WriteTo implements io.WriterTo.
func (r *resumed) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(r.said)
	r.said = nil
	if err != nil {
		return int64(n), err
	}
	m, err := r.TCP.WriteTo(w)
	return int64(n) + m, err
}

// send writes p, all of it.
func send(fd int, p []byte) bool {
	if len(p) == 0 {
		return true
	}
	n, err := unix.Write(fd, p)
	return err == nil && n == len(p)
}
