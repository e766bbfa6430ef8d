package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
)

// destinations are where the connections of each listener go; the zero value is wherever the client says.
func destinations(listeners []wire.Listener) ([]hostmatch.HostPort, error) {
	out := make([]hostmatch.HostPort, len(listeners))
	for i, l := range listeners {
		switch {
		case l.Role == wire.RoleProxy && l.Target == "":
		case l.Role == wire.RoleMirror:
			var err error
			if out[i], err = hostmatch.ParseHostPort(l.Target, 0); err != nil {
				return nil, fmt.Errorf("mirror: %w", err)
			}
		default:
			return nil, fmt.Errorf("listener with role %q and target %q", l.Role, l.Target)
		}
	}
	return out, nil
}

// take makes listeners of descriptors that came from elsewhere.
func (at *attached) take(a wire.Attach, files []*os.File) error {
	if len(files) != len(a.Listeners) {
		return fmt.Errorf("%d descriptors for %d listeners", len(files), len(a.Listeners))
	}
	for i, f := range files {
		ln, err := tcpListener(f)
		if err != nil {
			return fmt.Errorf("listener %d: %w", i, err)
		}
		at.listeners = append(at.listeners, ln)
	}
	return nil
}

// open listens by itself. Without a token that port would be anybody's.
func (at *attached) open(a wire.Attach, files int) error {
	addr, err := netip.ParseAddrPort(a.Listen)
	switch {
	case err != nil || !addr.Addr().IsLoopback() || addr.Port() == 0:
		return fmt.Errorf("%q is no port of the loopback", a.Listen)
	case len(a.Token) < wire.MinToken:
		return errors.New("a port that anybody can reach needs a token")
	case files > 0 || len(a.Listeners) != 1 || a.Listeners[0].Role != wire.RoleProxy:
		return errors.New("proxyd opens one proxy listener and no other")
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = alone(fd) })
		return errors.Join(err, failed)
	}}
	ln, err := config.Listen(context.Background(), "tcp", addr.String())
	switch {
	case err != nil && inUse(err):
		return &wire.Fault{Code: wire.CodeBusy, Detail: "another process has " + a.Listen}
	case err != nil:
		return &wire.Fault{Code: wire.CodeUnsupported, Detail: err.Error()}
	}
	at.listeners = append(at.listeners, ln.(*net.TCPListener))
	return nil
}

// tcpListener makes a listener of a descriptor that came from elsewhere: it may be anything.
func tcpListener(f *os.File) (*net.TCPListener, error) {
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		ln.Close()
		return nil, fmt.Errorf("a %s socket, not a TCP one", ln.Addr().Network())
	}
	return tcp, nil
}
