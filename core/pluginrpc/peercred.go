package pluginrpc

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// kernelCreds lets a connection begin only when the kernel says that the process at its other end is the expected one. A socket has a
// name for a moment, and whoever may write to the directory above could put another socket in its place.
type kernelCreds struct {
	credentials.TransportCredentials
	pid   int
	taken *atomic.Bool // a server takes one connection
	begun func()       // called when it has it; may be nil
}

func onlyFrom(pid int, begun func()) credentials.TransportCredentials {
	return &kernelCreds{TransportCredentials: insecure.NewCredentials(), pid: pid, taken: new(atomic.Bool), begun: begun}
}

func (k *kernelCreds) ClientHandshake(ctx context.Context, authority string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := k.check(c); err != nil {
		return nil, nil, err
	}
	return k.TransportCredentials.ClientHandshake(ctx, authority, c)
}

func (k *kernelCreds) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := k.check(c); err != nil {
		return nil, nil, err
	}
	if k.begun != nil {
		k.begun()
	}
	return k.TransportCredentials.ServerHandshake(c)
}

func (k *kernelCreds) check(c net.Conn) error {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return fmt.Errorf("a connection of an unknown kind")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	pid, asked := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { pid, asked = peerPid(int(fd)) }); err != nil {
		return err
	}
	switch {
	case asked != nil:
		return fmt.Errorf("ask who is at the other end: %w", asked)
	case pid != k.pid:
		return fmt.Errorf("process %d is at the other end, not %d", pid, k.pid)
	case k.taken.Swap(true):
		return fmt.Errorf("there is a connection already")
	}
	return nil
}

// Clone keeps the one connection one.
func (k *kernelCreds) Clone() credentials.TransportCredentials {
	c := *k
	c.TransportCredentials = k.TransportCredentials.Clone()
	return &c
}
