// Package front accepts the connections of a command's listeners and tells HTTP from SOCKS5 by the first byte. It must never judge or
// dial (package gate does), and one command's flood must never cost another command anything.
package front

import (
	"net"
	"runtime/debug"
	"time"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/httpproxy"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/near"
	"github.com/srt-dev/srt/proxyd/relay"
	"github.com/srt-dev/srt/proxyd/socks5"
)

// Front serves listeners.
type Front struct {
	gate  *gate.Gate
	http  *httpproxy.Proxy
	socks *socks5.Proxy
}

// New makes a Front over g.
func New(g *gate.Gate) *Front {
	return &Front{gate: g, http: httpproxy.New(g), socks: socks5.New(g)}
}

// Proxy accepts on ln, which speaks HTTP, CONNECT and SOCKS5, until it is closed.
func (f *Front) Proxy(cmd *client.Command, ln *net.TCPListener) {
	f.serve(cmd, ln, near.Way{
		Hears: true,
		Open:  func(said []byte) (near.Opened, bool) { return f.http.Near(cmd, said) },
		Serve: f.first,
	})
}

// Mirror accepts on ln, every connection of which goes to dest after the same judgement as CONNECT dest, until it is closed.
func (f *Front) Mirror(cmd *client.Command, ln *net.TCPListener, dest hostmatch.HostPort) {
	f.serve(cmd, ln, near.Way{
		Open: func([]byte) (t near.Opened, ok bool) {
			t.Socket, ok = f.gate.Near(gate.Who{Command: cmd, Proto: "mirror"}, dest)
			return t, ok
		},
		Serve: func(c *client.Conn) { f.mirror(c, dest) },
	})
}

// serve accepts on ln: by package near where that can be, else here.
func (f *Front) serve(cmd *client.Command, ln *net.TCPListener, way near.Way) {
	way.Full = func() {
		f.gate.Malformed(gate.Who{Command: cmd, Proto: "accept"}, "*", "too many open connections; more have to wait")
	}
	way.Broken = func(fault any, stack []byte) { f.gate.Broken(gate.Who{Command: cmd}, fault, stack) }
	serve := way.Serve
	way.Serve = func(c *client.Conn) {
		defer f.survive(c)
		serve(c)
	}
	if !near.Serve(cmd, ln, way) {
		f.accept(cmd, ln, way)
	}
}

func (f *Front) accept(cmd *client.Command, ln *net.TCPListener, way near.Way) {
	for cmd.Reserve(way.Full) {
		conn, err := ln.AcceptTCP()
		if err != nil {
			cmd.Release()
			if cmd.Context().Err() != nil {
				return
			}
			select { // descriptors or memory are short: others may give some back
			case <-time.After(50 * time.Millisecond):
			case <-cmd.Context().Done():
			}
			continue
		}
		if c := cmd.Adopt(conn); c != nil {
			go way.Serve(c)
		}
	}
}

// survive makes a fault in the service of one connection cost that connection only, and says so.
func (f *Front) survive(c *client.Conn) {
	if r := recover(); r != nil {
		c.Close()
		f.gate.Broken(gate.Who{Command: c.Command}, r, debug.Stack())
	}
}

// first reads what the client says first and finds out what it speaks.
func (f *Front) first(c *client.Conn) {
	const socks4, socks5 = 4, 5
	c.SetReadDeadline(time.Now().Add(limits.FirstByte))
	buf := make([]byte, 1024)
	n, err := c.Read(buf)
	if n == 0 || err != nil {
		c.Close()
		return
	}
	c.Unread(buf[:n])
	switch buf[0] {
	case socks5: // has its own time for the whole handshake
		f.socks.Serve(c)
	case socks4:
		f.gate.Malformed(gate.Who{Command: c.Command, Proto: "socks4"}, "*", "SOCKS4 is not spoken; use SOCKS5")
		c.Write([]byte{0, 0x5b, 0, 0, 0, 0, 0, 0}) // request rejected
		relay.Linger(c)
	default:
		c.SetReadDeadline(time.Time{})
		f.http.Serve(c)
	}
}

func (f *Front) mirror(c *client.Conn, dest hostmatch.HostPort) {
	permit, err := f.gate.Judge(c.Command.Context(), gate.Who{Command: c.Command, Proto: "mirror"}, dest)
	if err == nil {
		var link *egress.Link
		if link, err = permit.Dial(c.Command.Context(), egress.Tunnel); err == nil {
			relay.Both(c, link.Conn)
			return
		}
	}
	c.SetLinger(0) // a reset: what a closed port looks like, as nearly as an accepted connection can
	c.Close()
}
