package pluginrpc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// Options say how a peer is started.
type Options struct {
	Path  string        // absolute path of its program, from oneshot.Find or oneshot.FindIn
	Limit time.Duration // for its start and for one answer; 0: oneshot.AnswerLimit
	// OnThread runs f on the thread whose end ends the peer, and waits for it. nil: the calling goroutine is locked to that thread.
	OnThread func(f func())
	Log      *slog.Logger // gets what the peer writes to stderr; nil: dropped
	Avoid    [2]int       // first and last of the ports that commands can reach: the peer takes none of them, where it takes one

	byPort bool // what Windows always does, for tests elsewhere
}

// peer is a process that serves us.
type peer struct {
	name     string
	cmd      *exec.Cmd
	way      way
	lifetime *os.File // our end
	done     chan struct{}
	client   *plugin.Client
	conn     *grpc.ClientConn
	closing  sync.Once
}

// start starts the peer and connects to it. name is what it serves, extra are its descriptors from ChannelFD on, which stay the caller's
// and go to a peer with a socket only.
func start(ctx context.Context, o Options, name string, extra ...*os.File) (_ *peer, err error) {
	if o.Limit == 0 {
		o.Limit = oneshot.AnswerLimit
	}
	if o.OnThread == nil {
		o.OnThread = func(f func()) { f() }
	}
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "start", Path: o.Path, Detail: cause(err)}
	}
	p := &peer{name: o.Path, done: make(chan struct{})}
	if p.way, err = newWay(o, extra); err != nil {
		return nil, fault(err)
	}
	env, err := baseEnv()
	if err != nil {
		return nil, fault(err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fault(err)
	}
	defer theirs.Close()
	line, say, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, fault(err)
	}
	defer line.Close()
	p.lifetime = ours
	p.cmd = &exec.Cmd{Path: o.Path, Args: []string{o.Path, VerbServe}, Stdout: say, Stderr: newLines(o.Log, filepath.Base(o.Path)),
		SysProcAttr: ownedBySrt(), WaitDelay: time.Second,
		Env: append(env, handshake.MagicCookieKey+"="+handshake.MagicCookieValue, "PLUGIN_PROTOCOL_VERSIONS="+strconv.Itoa(wire.Version))}
	p.way.give(p.cmd, theirs)
	o.OnThread(func() { err = p.cmd.Start() })
	say.Close()
	if err != nil {
		ours.Close()
		return nil, fault(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	if err := p.connect(ctx, line, o.Limit, name); err != nil {
		p.end()
		f := oneshot.AsFault(err)
		return nil, &wire.Fault{Code: f.Code, Op: "start", Path: o.Path, Detail: f.Detail, Hint: f.Hint}
	}
	p.way.end()
	go func() {
		<-p.done // a system may be late to say that a connection has ended with its process, or never do
		time.AfterFunc(farewell, func() { p.conn.Close() })
	}()
	return p, nil
}

// newWay is the way to a new peer.
func newWay(o Options, extra []*os.File) (way, error) {
	if overPort || o.byPort {
		return onPort(o.Avoid)
	}
	dir, err := socketDir()
	return &socket{dir: dir, extra: extra}, err
}

// connect waits for the peer's line and connects to what it names.
func (p *peer) connect(ctx context.Context, line *os.File, limit time.Duration, name string) error {
	late := time.AfterFunc(limit, func() { p.cmd.Process.Kill() }) // ends whatever waits below
	defer late.Stop()
	stop := context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })
	defer stop()
	addr, err := readAddress(line, p.way)
	if err == nil {
		err = p.dial(addr, name)
	}
	switch {
	case err == nil && late.Stop():
		return nil
	case ctx.Err() != nil:
		return &wire.Fault{Code: wire.CodePeerGone, Detail: ctx.Err().Error()}
	case !late.Stop():
		return &wire.Fault{Code: wire.CodePeerGone, Detail: "the peer did not answer in time"}
	case errors.Is(err, io.EOF):
		return &wire.Fault{Code: wire.CodePeerGone, Detail: ended}
	}
	return callFault(err)
}

func (p *peer) dial(addr net.Addr, name string) error {
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: handshake,
		Plugins:         plugin.PluginSet{name: &service{}},
		Logger:          hclog.NewNullLogger(),
		SkipHostEnv:     true,
		Reattach: &plugin.ReattachConfig{Protocol: plugin.ProtocolGRPC, ProtocolVersion: wire.Version,
			Addr: addr, ReattachFunc: func() (runner.AttachedRunner, error) { return started{p}, nil }},
		GRPCDialOptions: []grpc.DialOption{grpc.WithContextDialer(once(addr)), grpc.WithTransportCredentials(p.way.creds(p.cmd.Process.Pid)), grpc.WithIdleTimeout(0),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxCall), grpc.MaxCallSendMsgSize(maxCall))},
	})
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	if err := protocol.Ping(); err != nil {
		return err
	}
	served, err := protocol.Dispense(name)
	if err != nil {
		return err
	}
	p.conn = served.(*grpc.ClientConn) // see service.GRPCClient
	return nil
}

// once connects to addr and never again: when the connection ends the peer is gone, and who took its place would be somebody else.
func once(addr net.Addr) func(context.Context, string) (net.Conn, error) {
	var used atomic.Bool
	return func(ctx context.Context, _ string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errors.New("the peer is gone")
		}
		var d net.Dialer
		return d.DialContext(ctx, addr.Network(), addr.String())
	}
}

// fault says what an error of a call means. A peer that is gone has ended, whatever the call was waiting for.
func (p *peer) fault(err error) *wire.Fault {
	f := callFault(err)
	select {
	case <-p.done:
		if f.Code == wire.CodePeerGone {
			f.Detail = ended
		}
	default:
	}
	return f
}

// Done is closed when the process is gone.
func (p *peer) Done() <-chan struct{} { return p.done }

// Pid is the process id of the peer.
func (p *peer) Pid() int { return p.cmd.Process.Pid }

// end leaves no process, goroutine, socket or directory. There is no goodbye: a peer holds nothing that it could lose.
func (p *peer) end() {
	p.closing.Do(func() {
		p.lifetime.Close()
		p.cmd.Process.Kill()
		<-p.done
		if p.client != nil {
			p.client.Kill()
		}
		if p.conn != nil {
			p.conn.Close()
		}
		p.way.end()
	})
}

// started tells go-plugin about a process that we started.
type started struct{ p *peer }

func (s started) Wait(context.Context) error {
	<-s.p.done
	return nil
}
func (s started) Kill(context.Context) error                       { return nil } // end does
func (s started) ID() string                                       { return strconv.Itoa(s.p.Pid()) }
func (s started) PluginToHost(n, a string) (string, string, error) { return n, a, nil }
func (s started) HostToPlugin(n, a string) (string, string, error) { return n, a, nil }

// maxDir is how long the name of a socket's directory may be: the name of a socket has at most 107 bytes, 103 on macOS.
const maxDir = 80

// socketDir names a directory that does not exist yet; the peer makes it.
func socketDir() (string, error) {
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	for _, base := range []string{"/tmp", os.TempDir(), os.Getenv("XDG_RUNTIME_DIR")} {
		dir := filepath.Join(base, "srt-"+hex.EncodeToString(b))
		if filepath.IsAbs(base) && len(dir) <= maxDir && os.Mkdir(dir, 0o700) == nil {
			return dir, os.Remove(dir)
		}
	}
	return "", errors.New("no directory for its socket: neither /tmp nor a short TMPDIR can be written to")
}

// cause is err without the operation and the path, which the Fault has already.
func cause(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
