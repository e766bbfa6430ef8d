//go:build linux || darwin

package oneshot

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
)

// Proxy is proxyd, started for one command, reached over the channel of wire/proxy.go. It implements wire.Proxy.
type Proxy struct {
	*Conversation
	path    string
	pid     int
	ch      *Channel
	closing sync.Once
	mu      sync.Mutex
	reaped  bool // its number may mean another process
}

var _ wire.Proxy = (*Proxy)(nil)

// proxySlack is the timer slack of proxyd, in nanoseconds: its own timers are of seconds, and the monitor thread of the Go runtime, which polls
// every 20 µs while calls come and go, took a seventh of its processor time.
const proxySlack = 1_000_000

// StartProxy starts the proxyd at path, an absolute path from Find. The caller must be locked to the main thread, read Events
// until it is closed, and call Close.
func StartProxy(path string) (*Proxy, error) {
	fault := func(op string, err error) error {
		return &wire.Fault{Code: wire.CodePeerGone, Op: op, Path: path, Detail: err.Error()}
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fault("open /dev/null for", err)
	}
	defer unix.Close(null)
	ours, theirs, err := Pair()
	if err != nil {
		return nil, fault("make a channel to", err)
	}
	defer unix.Close(theirs)
	_, exact := entry.Timers(proxySlack)
	defer exact()
	attr := &syscall.SysProcAttr{Setsid: true}
	ownedBySrt(attr)
	pid, err := syscall.ForkExec(path, []string{path}, &syscall.ProcAttr{Env: childEnv(), Sys: attr,
		Files: []uintptr{uintptr(null), uintptr(null), 2, ProxyFD: uintptr(theirs)}})
	if err != nil {
		unix.Close(ours)
		return nil, fault("start", err)
	}
	ch := NewChannel(ours, wire.MaxProxyMessage)
	return &Proxy{Conversation: Converse(path, proxyChannel{ch}), path: path, pid: pid, ch: ch}, nil
}

// proxyChannel carries the conversation over one channel.
type proxyChannel struct{ *Channel }

func (c proxyChannel) Send(cmd wire.ProxyCommand, fds ...int) error {
	return c.Channel.Send(cmd, fds...)
}

func (c proxyChannel) Recv(e *wire.ProxyEvent) error {
	fds, err := c.Channel.Recv(e)
	CloseAll(fds) // proxyd has none to give
	return err
}

// Kill ends proxyd at once; Close must still be called.
func (p *Proxy) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.ch.Shutdown()
		unix.Kill(p.pid, unix.SIGKILL)
	}
}

// Close ends proxyd and waits for it. Events that it had sent before are still delivered.
func (p *Proxy) Close() error {
	p.closing.Do(func() {
		p.Kill()
		<-p.Done()
		p.mu.Lock()
		p.reaped = true
		p.mu.Unlock()
		reap(p.pid)
		p.ch.Close()
	})
	return nil
}
