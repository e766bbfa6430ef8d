package initd

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// backlog holds early connections until proxyd runs.
const backlog = 1024

// handOut makes the command's listeners in its network namespace and sends them to srt; none stays open in here.
func handOut(ch *oneshot.Channel, n wire.NetPolicy) error {
	var fds []int
	defer func() { oneshot.CloseAll(fds) }()
	msg := wire.ControlMessage{Version: wire.Version, Kind: wire.KindListeners}
	for _, at := range places(n) {
		fd, err := listen(at.addr)
		if strings.HasPrefix(at.addr, "[") && noFamily(err) { // a kernel without IPv6: nobody in here can ask for that address
			continue
		}
		if err != nil {
			f := &wire.Fault{Code: wire.CodeUnsupported, Op: "listen inside the sandbox on", Path: at.addr, Detail: err.Error()}
			if errors.Is(err, unix.EACCES) { // no capability, where bubblewrap makes the mounts
				f.Hint = "allow a port from 1024 on, or let the sandbox make its own mounts (srt doctor says how)"
			}
			return f
		}
		fds = append(fds, fd)
		msg.Listeners = append(msg.Listeners, at.Listener)
	}
	if len(fds) == 0 {
		return nil
	}
	return ch.Send(&msg, fds...)
}

// place is an address inside and what a connection to it is for.
type place struct {
	addr string
	wire.Listener
}

// places gives every address to listen on once. The proxy's own comes first; an allow-listed address stands for itself; what is free of
// the two loopback addresses then stands for the first name below localhost with that port.
func places(n wire.NetPolicy) []place {
	var out []place
	taken := map[string]bool{}
	add := func(addr string, l wire.Listener) {
		if !taken[addr] {
			taken[addr] = true
			out = append(out, place{addr, l})
		}
	}
	if n.ProxyAddr != "" {
		add(n.ProxyAddr, wire.Listener{Role: wire.RoleProxy})
	}
	var names []string
	for _, m := range n.Mirrors {
		if _, err := netip.ParseAddrPort(m); err != nil {
			names = append(names, m)
			continue
		}
		add(m, wire.Listener{Role: wire.RoleMirror, Target: m})
	}
	for _, m := range names {
		port := m[strings.LastIndexByte(m, ':'):]
		add("127.0.0.1"+port, wire.Listener{Role: wire.RoleMirror, Target: m})
		add("[::1]"+port, wire.Listener{Role: wire.RoleMirror, Target: m})
	}
	return out
}

// noFamily says whether listen failed because the kernel has nothing of the address's family.
func noFamily(err error) bool {
	return errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL)
}

func listen(addr string) (int, error) {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return -1, err
	}
	family, sa := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()})
	if a := ap.Addr().Unmap(); a.Is4() {
		family, sa = unix.AF_INET, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: a.As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	for _, step := range []func() error{
		func() error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) },
		func() error { return unix.Bind(fd, sa) },
		func() error { return unix.Listen(fd, backlog) },
	} {
		if err := step(); err != nil {
			unix.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}
