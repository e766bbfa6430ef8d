package egress

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/acl"
)

func TestNear(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	open := ln.Addr().(*net.TCPAddr).AddrPort()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, c := range map[string]struct {
		dest string
		cfg  wire.ProxyConfig
		ok   bool
	}{
		"a service of this host":             {open.String(), wire.ProxyConfig{}, true},
		"the same beside a parent proxy":     {open.String(), wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: "http://192.0.2.1:3128"}}, true},
		"the same through mitmProxy":         {open.String(), wire.ProxyConfig{Mitm: &wire.MitmProxy{SocketPath: "/x", Domains: []string{open.String()}}}, false},
		"nobody listens":                     {gone.Addr().String(), wire.ProxyConfig{}, false},
		"another host":                       {"192.0.2.1:443", wire.ProxyConfig{}, false},
		"a name, which has to be looked up":  {"localhost:80", wire.ProxyConfig{}, false},
		"every address, which is not a host": {netip.AddrPortFrom(netip.IPv4Unspecified(), open.Port()).String(), wire.ProxyConfig{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := NewDialer(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			dest, err := hostmatch.ParseHostPort(c.dest, 0)
			if err != nil {
				t.Fatal(err)
			}
			fd, ok := d.Near(Target{Args: acl.Args{Dest: dest}})
			if ok != c.ok {
				t.Fatalf("%v, want %v", ok, c.ok)
			}
			if !ok {
				return
			}
			defer unix.Close(fd)
			if peer, err := unix.Getpeername(fd); err != nil || peer.(*unix.SockaddrInet4).Port != int(open.Port()) {
				t.Errorf("%v, %v", peer, err)
			}
		})
	}
}
