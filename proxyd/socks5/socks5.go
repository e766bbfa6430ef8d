// Package socks5 is the SOCKS5 front end: CONNECT by name or by address. It has every destination judged (package gate) before anything
// is looked up, and must never resolve or dial by itself.
//
// github.com/armon/go-socks5 reads the protocol and moves the bytes. Everything around it is an adapter, because of what it does alone:
// it resolves before it asks the rules, can only say "not allowed" from the rules, makes "refused" of any error text with that word,
// panics on a local address that is not TCP, has no time-outs, and prints to stdout.
package socks5

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/netip"
	"strconv"
	"time"

	socks "github.com/armon/go-socks5"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/limits"
)

// Proxy serves SOCKS5.
type Proxy struct{ gate *gate.Gate }

// New makes a Proxy that judges and dials through g.
func New(g *gate.Gate) *Proxy { return &Proxy{gate: g} }

var silent = log.New(io.Discard, "", 0)

// Serve speaks SOCKS5 on c until both directions are finished, and closes it.
func (p *Proxy) Serve(c *client.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(limits.Handshake))
	x := &exchange{proxy: p, conn: c}
	server, err := socks.New(&socks.Config{
		AuthMethods: methods(c.Command),
		Resolver:    unresolved{},
		Rules:       x,
		Dial:        x.dial,
		Logger:      silent,
	})
	if err == nil {
		server.ServeConn(c)
	}
	if x.target != nil {
		x.target.Close()
	}
}

// exchange is one connection's request: the rules and the dialer of its own server.
type exchange struct {
	proxy  *Proxy
	conn   *client.Conn
	target net.Conn // what the client gets
	err    error    // why it gets nothing
}

// Allow implements socks.RuleSet. It judges and dials, because only here "not allowed" can be said; dial hands out the result.
func (x *exchange) Allow(ctx context.Context, r *socks.Request) (context.Context, bool) {
	who := gate.Who{Command: x.conn.Command, Proto: "socks"}
	if r.Command != socks.ConnectCommand {
		x.proxy.gate.Malformed(who, quote(r.DestAddr), "SOCKS command not supported")
		return ctx, true // the library then says that it does not know the command
	}
	dest, err := destination(r.DestAddr)
	if err != nil {
		x.proxy.gate.Malformed(who, quote(r.DestAddr), "malformed destination")
		return ctx, false
	}
	x.conn.SetDeadline(time.Time{})
	permit, err := x.proxy.gate.Judge(x.conn.Command.Context(), who, dest)
	if err == nil {
		var link *egress.Link
		if link, err = permit.Dial(x.conn.Command.Context(), egress.Socks); err == nil {
			x.target = anonymous(link.Conn)
			return ctx, true
		}
	}
	if denial, ok := errors.AsType[*gate.Denial](err); ok {
		if dest.Port != sshPort || r.AuthContext == nil || r.AuthContext.Method != socks.NoAuth {
			return ctx, false
		}
		x.target = newGoodbye(denial.Reason)
		x.conn.SetReadDeadline(time.Now().Add(limits.Handshake))
		return ctx, true
	}
	x.err = err
	return ctx, true
}

func (x *exchange) dial(context.Context, string, string) (net.Conn, error) {
	if x.target != nil {
		return x.target, nil
	}
	reply := byte(egress.SocksHostUnreachable)
	if f, ok := errors.AsType[*egress.Failure](x.err); ok {
		reply = f.SocksReply()
	}
	switch reply { // the library chooses its reply by these words
	case egress.SocksRefused:
		return nil, errors.New("refused")
	case egress.SocksNetUnreachable:
		return nil, errors.New("network is unreachable")
	}
	return nil, errors.New("host is unreachable")
}

// destination reads the address of a request: the only reading of it.
func destination(a *socks.AddrSpec) (hostmatch.HostPort, error) {
	if len(a.IP) > 0 {
		ip, _ := netip.AddrFromSlice(a.IP)
		return valid(hostmatch.HostPort{Host: hostmatch.FromAddr(ip), Port: uint16(a.Port)})
	}
	h, err := hostmatch.ParseHost(a.FQDN)
	if err != nil {
		return hostmatch.HostPort{}, err
	}
	return valid(hostmatch.HostPort{Host: h, Port: uint16(a.Port)})
}

func valid(hp hostmatch.HostPort) (hostmatch.HostPort, error) {
	if !hp.IsValid() {
		return hp, errors.New("no destination")
	}
	return hp, nil
}

// quote makes a printable text of a destination that was not understood.
func quote(a *socks.AddrSpec) string {
	host := a.FQDN
	if len(a.IP) > 0 {
		host = a.IP.String()
	}
	q := strconv.QuoteToASCII(host)
	return q[1:len(q)-1] + ":" + strconv.Itoa(a.Port)
}

// unresolved keeps the library from looking anything up.
type unresolved struct{}

func (unresolved) Resolve(ctx context.Context, _ string) (context.Context, net.IP, error) {
	return ctx, nil, nil
}

// methods are the ways in: whoever calls, where the listener says whose a connection is, else only who shows the command's token.
func methods(cmd *client.Command) []socks.Authenticator {
	password := socks.UserPassAuthenticator{Credentials: holder{cmd}}
	if cmd.Guarded() {
		return []socks.Authenticator{password}
	}
	return []socks.Authenticator{socks.NoAuthAuthenticator{}, password}
}

// holder judges user name and password.
type holder struct{ cmd *client.Command }

func (h holder) Valid(user, password string) bool { return h.cmd.Admits(user, password) }

// anonymous hides our own address towards the outside, which the library would tell the client, and gives it the type that the library
// needs. A TCP connection stays one underneath, so that the kernel can move the bytes.
func anonymous(c egress.Conn) net.Conn {
	if tcp, ok := c.(egress.TCP); ok {
		return anonymousTCP{tcp}
	}
	return anonymousConn{c}
}

type anonymousTCP struct{ egress.TCP }

func (anonymousTCP) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }

type anonymousConn struct{ egress.Conn }

func (anonymousConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }
