//go:build linux || darwin

package oneshot

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// Proxy is proxyd, started for one command, reached over the channel of wire/proxy.go. It implements wire.Proxy.
type Proxy struct {
	path   string
	pid    int
	ch     *Channel
	limit  time.Duration
	events chan wire.ProxyEvent
	done   chan struct{} // closed when the reader has ended: the channel is gone

	mu      sync.Mutex
	seq     uint64
	waiting map[uint64]chan *wire.Fault // answers to come; nil when proxyd is gone
	reason  *wire.Fault                 // why it is gone
	closing sync.Once
}

var _ wire.Proxy = (*Proxy)(nil)

// eventQueue is how many events may wait for their reader before proxyd has to.
const eventQueue = 64

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
	attr := &syscall.SysProcAttr{Setsid: true}
	ownedBySrt(attr)
	pid, err := syscall.ForkExec(path, []string{path}, &syscall.ProcAttr{Env: childEnv(), Sys: attr,
		Files: []uintptr{uintptr(null), uintptr(null), 2, ProxyFD: uintptr(theirs)}})
	if err != nil {
		unix.Close(ours)
		return nil, fault("start", err)
	}
	p := &Proxy{path: path, pid: pid, ch: NewChannel(ours, wire.MaxProxyMessage), limit: AnswerLimit,
		events: make(chan wire.ProxyEvent, eventQueue), done: make(chan struct{}), waiting: map[uint64]chan *wire.Fault{}}
	go p.read()
	return p, nil
}

// read takes every word of proxyd until the channel ends or proxyd breaks the contract.
func (p *Proxy) read() {
	defer close(p.done)
	defer close(p.events)
	for {
		var e wire.ProxyEvent
		fds, err := p.ch.Recv(&e)
		CloseAll(fds) // proxyd has none to give
		if err != nil {
			p.fail(AsFault(err))
			return
		}
		switch e.Kind {
		case wire.EventReady:
			p.mu.Lock()
			answer := p.waiting[e.Seq]
			delete(p.waiting, e.Seq)
			p.mu.Unlock()
			if answer != nil {
				answer <- e.Fault
			}
		case wire.EventViolation, wire.EventAllowed, wire.EventAsk:
			p.events <- e
		default:
			p.fail(&wire.Fault{Code: wire.CodeMalformed, Detail: "unknown event " + e.Kind})
			return
		}
	}
}

func (p *Proxy) fail(f *wire.Fault) {
	p.ch.Shutdown()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reason = &wire.Fault{Code: f.Code, Op: "ask", Path: p.path, Detail: f.Detail, Hint: f.Hint}
	for _, answer := range p.waiting {
		answer <- p.reason
	}
	p.waiting = nil
}

// call sends one command and waits for its EventReady.
func (p *Proxy) call(ctx context.Context, cmd wire.ProxyCommand, fds ...int) error {
	answer := make(chan *wire.Fault, 1)
	p.mu.Lock()
	if p.waiting == nil {
		defer p.mu.Unlock()
		return p.reason
	}
	p.seq++
	cmd.Version, cmd.Seq = wire.Version, p.seq
	p.waiting[cmd.Seq] = answer
	p.mu.Unlock()
	if err := p.ch.Send(cmd, fds...); err != nil {
		return err
	}
	timer := time.NewTimer(p.limit)
	defer timer.Stop()
	select {
	case f := <-answer:
		if f == nil {
			return nil
		}
		return f
	case <-ctx.Done():
		return &wire.Fault{Code: wire.CodePeerGone, Op: "ask", Path: p.path, Detail: ctx.Err().Error()}
	case <-timer.C:
		return &wire.Fault{Code: wire.CodePeerGone, Op: "ask", Path: p.path, Detail: "the peer did not answer in time"}
	}
}

// Configure replaces the whole egress policy, for connections to come.
func (p *Proxy) Configure(ctx context.Context, cfg wire.ProxyConfig) error {
	b, err := wire.Encode(cfg)
	if err != nil {
		return err
	}
	if len(b) > wire.MaxProxyConfig {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "configure", Path: p.path, Detail: "the network lists are too long"}
	}
	if len(b) < wire.MaxProxyMessage/2 {
		return p.call(ctx, wire.ProxyCommand{Op: wire.OpConfigure, Config: &cfg})
	}
	fd, err := anonymousFile(b)
	if err != nil {
		return &wire.Fault{Code: wire.CodeInternal, Op: "hold the network lists for", Path: p.path, Detail: err.Error()}
	}
	defer unix.Close(fd)
	return p.call(ctx, wire.ProxyCommand{Op: wire.OpConfigure, ConfigFD: true}, fd)
}

// Attach hands over the listeners of one command; files are closed here in any case.
func (p *Proxy) Attach(ctx context.Context, a wire.Attach, files []*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	err := p.call(ctx, wire.ProxyCommand{Op: wire.OpAttach, Attach: &a}, fds...)
	for _, f := range files {
		f.Close()
	}
	return err
}

// Detach closes the listeners and connections of a command.
func (p *Proxy) Detach(ctx context.Context, commandID string) error {
	return p.call(ctx, wire.ProxyCommand{Op: wire.OpDetach, Detach: commandID})
}

// Answer settles an EventAsk; proxyd does not answer back.
func (p *Proxy) Answer(_ context.Context, a wire.Answer) error {
	return p.ch.Send(wire.ProxyCommand{Version: wire.Version, Op: wire.OpAnswer, Answer: &a})
}

// Events is closed when proxyd is gone.
func (p *Proxy) Events() <-chan wire.ProxyEvent { return p.events }

// Close ends proxyd and waits for it. Events that it had sent before are still delivered.
func (p *Proxy) Close() error {
	p.closing.Do(func() {
		p.ch.Shutdown()
		unix.Kill(p.pid, unix.SIGKILL)
		<-p.done
		reap(p.pid)
		p.ch.Close()
	})
	return nil
}
