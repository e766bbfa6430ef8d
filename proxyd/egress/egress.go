// Package egress opens the connections to the outside: it is the only dialer of proxyd. It resolves a name once, drops the addresses
// that no name may lead to, and dials one of those that are left, never the name again. It must never be handed a destination that
// was not judged before (package acl), never look at an environment variable, and never tell a client an address.
//
// golang.org/x/net/proxy is used for one thing, the SOCKS5 exchange with the user's own proxy: the client half of a protocol whose
// server half is tested here against real clients already.
package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/proxyd/acl"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/relay"
)

// Kind is what the connection is for; upstream proxies treat them differently.
type Kind uint8

// Kinds.
const (
	Tunnel Kind = iota // CONNECT, an upgrade or a mirror: bytes
	Plain              // requests of plain HTTP
	Socks              // bytes that came by SOCKS
)

// Target is a destination that was judged, and what its judgement needs of the lists.
type Target struct {
	acl.Args
	Kind Kind
}

// Conn is a connection that can be half closed.
type Conn interface {
	net.Conn
	CloseRead() error
	CloseWrite() error
}

// TCP is a connection with nothing around it but the way its bytes are moved to a client.
type TCP struct{ *net.TCPConn }

// WriteTo implements io.WriterTo.
func (c TCP) WriteTo(w io.Writer) (int64, error) { return relay.Copy(w, c.TCPConn) }

// Link is an open connection. Conn is a TCP whenever nothing had to be put around the socket, so that the kernel can move the bytes.
type Link struct {
	Conn    Conn
	Via     *Via           // set when Conn leads to a proxy that takes plain HTTP requests in absolute form
	Addr    netip.AddrPort // what was dialled, for the log only; zero behind an upstream proxy
	Route   string         // "direct", "parent", "mitm", "own proxy", for the log
	Lookup  time.Duration  // how long the name took to resolve
	Dropped []netip.Addr   // addresses of the name that were refused, for the log only
}

// Via says how to speak to an upstream HTTP proxy.
type Via struct {
	Authorization string // value of Proxy-Authorization, or ""
}

// Dialer opens connections under one configuration. It is safe for concurrent use.
type Dialer struct {
	Ignored []string // entries of noProxy that were not understood, for the log

	routes routes
	denied []netip.Prefix // deniedResolvedAddresses
	system
}

// system is what a Dialer needs of the machine; tests replace it.
type system struct {
	resolve  func(ctx context.Context, name string) ([]netip.Addr, error)
	connect  func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)  // to what was judged
	upstream func(ctx context.Context, network, addr string) (net.Conn, error) // to a proxy that the settings name
	near     func(addr netip.AddrPort) (socket int, ok bool)                   // nil: never
	local    func() ([]netip.Addr, error)
	roots    *x509.CertPool // nil: the system's
}

var (
	dialer = net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: limits.Probe, Interval: -1, Count: -1}}
	nearby = net.Dialer{KeepAlive: -1} // to this host: the kernel tells of a peer that is gone
)

var theSystem = system{
	resolve: func(ctx context.Context, name string) ([]netip.Addr, error) {
		return (&net.Resolver{PreferGo: true}).LookupNetIP(ctx, "ip", name)
	},
	connect: func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		dialer := &dialer
		if addr.Addr().IsLoopback() {
			dialer = &nearby
		}
		return dialer.DialContext(ctx, "tcp", addr.String()) // DialTCP would bind first, which runs out of ports and takes long
	},
	upstream: dialer.DialContext,
	near:     connectNear,
	local:    localAddrs(),
}

// Dial opens a connection to t.Dest. The error is a *Refusal when the policy says no, else a *Failure.
func (d *Dialer) Dial(ctx context.Context, t Target) (*Link, error) {
	if !t.Dest.IsValid() {
		return nil, &Failure{Kind: Other, Err: errors.New("no destination")}
	}
	if r := d.routes.choose(t); r != nil {
		return d.through(ctx, r, t)
	}
	return d.direct(ctx, t)
}

// Near opens a connection to t.Dest, an address of this host's loopback, when that takes no waiting; the socket is non-blocking. False says
// nothing about t: it is for Dial.
func (d *Dialer) Near(t Target) (socket int, ok bool) {
	addr := t.Dest.Host.Addr()
	if d.near == nil || !t.Dest.IsValid() || !addr.IsLoopback() || d.routes.choose(t) != nil {
		return -1, false
	}
	return d.near(netip.AddrPortFrom(addr, t.Dest.Port)) // judged as itself, as in direct
}

func (d *Dialer) direct(ctx context.Context, t Target) (*Link, error) {
	link := &Link{Route: "direct"}
	var survivors []candidate
	if t.Dest.Host.IsAddr() { // it was judged as itself, by the list that names it or by the user
		survivors = []candidate{{addr: t.Dest.Host.Addr(), named: true}}
	} else {
		start := time.Now()
		addrs, err := d.lookup(ctx, t.Dest.Host)
		link.Lookup = time.Since(start)
		if err != nil {
			return nil, err
		}
		var refusal *Refusal
		if survivors, refusal = d.sift(t, addrs); refusal != nil {
			if len(survivors) == 0 {
				return nil, refusal
			}
			link.Dropped = refusal.Addrs
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limits.Connect)
	defer cancel()
	conn, chosen, err := race(ctx, survivors, func(ctx context.Context, c candidate) (net.Conn, error) {
		return d.connect(ctx, netip.AddrPortFrom(c.addr, t.Dest.Port))
	})
	if err != nil {
		return nil, dialFailure(err)
	}
	if !chosen.named && sameHost(conn) { // an address that this host got a moment ago
		conn.Close()
		return nil, &Refusal{Reason: "resolved to " + thisHost, Addrs: []netip.Addr{chosen.addr}}
	}
	link.Conn, link.Addr = halfClosable(conn), netip.AddrPortFrom(chosen.addr, t.Dest.Port)
	return link, nil
}

// lookup asks the resolver once. A name below localhost that nobody knows is loopback (RFC 6761).
func (d *Dialer) lookup(ctx context.Context, h hostmatch.Host) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.Resolve)
	defer cancel()
	addrs, err := d.resolve(ctx, h.Name())
	if h.IsLocalhost() && (err != nil || len(addrs) == 0) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if err != nil {
		return nil, lookupFailure(err)
	}
	if len(addrs) == 0 {
		return nil, &Failure{Kind: NoSuchHost, Err: errors.New("an empty answer")}
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap().WithZone("")
	}
	return addrs, nil
}

// sameHost says whether both ends of a connection have one address, as a connection to this host has. (A connection to 127.0.0.2
// comes from 127.0.0.1, but such addresses never get here.)
func sameHost(c net.Conn) bool {
	l, ok1 := c.LocalAddr().(*net.TCPAddr)
	r, ok2 := c.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && l.IP.Equal(r.IP)
}

// localAddrs reads the addresses of this host's interfaces, at most once in limits.LocalAddrs.
func localAddrs() func() ([]netip.Addr, error) {
	var mu sync.Mutex
	var read time.Time
	var addrs []netip.Addr
	return func() ([]netip.Addr, error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(read) < limits.LocalAddrs && !read.IsZero() {
			return addrs, nil
		}
		all, err := net.InterfaceAddrs()
		if err != nil {
			return nil, err
		}
		addrs = nil
		for _, a := range all {
			if n, ok := a.(*net.IPNet); ok {
				if ip, ok := netip.AddrFromSlice(n.IP); ok {
					addrs = append(addrs, ip.Unmap())
				}
			}
		}
		slices.SortFunc(addrs, netip.Addr.Compare)
		read = time.Now()
		return addrs, nil
	}
}
