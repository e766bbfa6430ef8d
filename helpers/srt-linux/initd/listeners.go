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
	add := func(l wire.Listener, addr string) error {
		fd, err := listen(addr)
		if err != nil {
			f := &wire.Fault{Code: wire.CodeUnsupported, Op: "listen inside the sandbox on", Path: addr, Detail: err.Error()}
			if errors.Is(err, unix.EACCES) { // no capability, where bubblewrap makes the mounts
				f.Hint = "allow a port from 1024 on, or let the sandbox make its own mounts (srt doctor says how)"
			}
			return f
		}
		fds = append(fds, fd)
		msg.Listeners = append(msg.Listeners, l)
		return nil
	}
	if n.ProxyAddr != "" {
		if err := add(wire.Listener{Role: wire.RoleProxy}, n.ProxyAddr); err != nil {
			return err
		}
	}
	for _, m := range n.Mirrors {
		for _, addr := range mirrorAddrs(m) {
			if err := add(wire.Listener{Role: wire.RoleMirror, Target: m}, addr); err != nil {
				return err
			}
		}
	}
	if len(fds) == 0 {
		return nil
	}
	return ch.Send(&msg, fds...)
}

// mirrorAddrs are the addresses inside that stand for an allow-listed loopback target.
func mirrorAddrs(target string) []string {
	if port, ok := strings.CutPrefix(target, "localhost:"); ok {
		return []string{"127.0.0.1:" + port, "[::1]:" + port}
	}
	return []string{target}
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
