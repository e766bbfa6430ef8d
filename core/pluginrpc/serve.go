package pluginrpc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/srt-dev/srt/core/wire"
)

// ServeHelper serves h until srt is gone or ends this process. The caller must be the main goroutine, locked to its thread in an init
// function, and must not have written to stdout.
func ServeHelper(h wire.Helper) error {
	return serve(nameHelper, &service{desc: &helperDesc, impl: h}, nil)
}

// ServeProxy lets talk have the one conversation with srt and ends with it. The rest is as ServeHelper says.
func ServeProxy(talk func(Words) error) error {
	p := &proxyEnd{talk: talk, ended: make(chan error, 1)}
	return serve(nameProxy, &service{desc: &proxyDesc, impl: p}, p.ended)
}

type proxyEnd struct {
	talk  func(Words) error
	once  sync.Once
	ended chan error
}

func (p *proxyEnd) converse(w Words) error {
	err := errors.New("there was a conversation already")
	p.once.Do(func() {
		err = p.talk(w)
		p.ended <- err
	})
	return err
}

// farewell is how long srt has to take the last words of a peer.
const farewell = time.Second

// serve runs go-plugin's server beside the main goroutine, which guards the life of the process.
func serve(name string, s *service, ended <-chan error, more ...grpc.ServerOption) error {
	if err := sealInherited(); err != nil {
		return fmt.Errorf("close what was inherited: %w", err)
	}
	at, err := seat()
	if err != nil {
		return err
	}
	defer at.leave()
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, at.lifetime)
		close(gone)
	}()
	told := make(chan os.Signal, 1) // the parent-death signal, until the directory is gone
	signal.Notify(told, syscall.SIGTERM)
	connected := make(chan struct{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig: handshake,
			Plugins:         plugin.PluginSet{name: s},
			Logger:          hclog.NewNullLogger(),
			GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
				opts = append(opts, at.options(func() { close(connected) })...)
				opts = append(opts, grpc.MaxRecvMsgSize(maxCall), grpc.MaxSendMsgSize(maxCall))
				return grpc.NewServer(append(opts, more...)...)
			},
		})
	}()
	for {
		select {
		case <-connected:
			if err := at.leave(); err != nil {
				return fmt.Errorf("remove the directory of the socket: %w", err)
			}
			if err := dieWithParent(); err != nil { // there is nothing to clean up any more
				return fmt.Errorf("ask for srt's death to be ours: %w", err)
			}
			connected = nil
		case err := <-ended:
			select { // srt reads the last words, and then ends this process
			case <-gone:
			case <-told:
			case <-time.After(farewell):
			}
			return err
		case <-gone:
			return nil
		case <-told:
			return nil
		case <-served:
			return nil
		}
	}
}

// place is where a peer is reached.
type place struct {
	lifetime io.Reader
	parent   int    // who may connect to the socket
	dir      string // of the socket; "" for a port
}

// seat takes what the environment offers. A port without srt's certificate would serve everybody, so there is none.
func seat() (place, error) {
	if os.Getenv(envCertificate) != "" {
		return place{lifetime: os.Stdin}, nil
	}
	if overPort {
		return place{}, errors.New("there is no certificate of srt's, who alone may connect")
	}
	p := place{lifetime: os.NewFile(LifetimeFD, "lifetime"), parent: os.Getppid(), dir: os.Getenv(plugin.EnvUnixSocketDir)}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return place{}, fmt.Errorf("make a directory for the socket: %w", err)
	}
	return p, nil
}

// options let srt in and nobody else; begun is called when it is there. On a port go-plugin asks for srt's certificate by itself.
func (p place) options(begun func()) []grpc.ServerOption {
	if p.dir == "" {
		return nil
	}
	return []grpc.ServerOption{grpc.Creds(onlyFrom(p.parent, begun))}
}

// leave leaves nothing on the disk.
func (p place) leave() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}
