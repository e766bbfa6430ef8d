package oneshot

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// Carrier brings the words of wire/proxy.go to proxyd and back. Send may be called from many goroutines.
type Carrier interface {
	Send(cmd wire.ProxyCommand, fds ...int) error // copies of fds ride along and stay the caller's
	Recv(e *wire.ProxyEvent) error
	Shutdown() // ends Recv; may be called more than once
}

// Conversation is srt's side of the words of wire/proxy.go, whatever carries them. It implements what wire.Proxy has in common on
// every carrier.
type Conversation struct {
	name   string // of proxyd, for faults
	c      Carrier
	limit  time.Duration // for one answer
	events chan wire.ProxyEvent
	queued atomic.Uint64 // events that were put into it
	done   chan struct{} // closed when the reader has ended: proxyd is gone

	mu      sync.Mutex
	seq     uint64
	waiting map[uint64]chan *wire.Fault // answers to come; nil when proxyd is gone
	reason  *wire.Fault                 // why it is gone
}

// eventQueue is how many events may wait for their reader before proxyd has to.
const eventQueue = 64

// Converse starts to read from c. name is how faults call proxyd. The caller must read Events until it is closed.
func Converse(name string, c Carrier) *Conversation {
	p := &Conversation{name: name, c: c, limit: AnswerLimit, events: make(chan wire.ProxyEvent, eventQueue), done: make(chan struct{}),
		waiting: map[uint64]chan *wire.Fault{}}
	go p.read()
	return p
}

// read takes every word of proxyd until the carrier ends or proxyd breaks the contract.
func (p *Conversation) read() {
	defer close(p.done)
	defer close(p.events)
	for {
		var e wire.ProxyEvent
		if err := p.c.Recv(&e); err != nil {
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
			p.queued.Add(1)
			p.events <- e
		default:
			p.fail(&wire.Fault{Code: wire.CodeMalformed, Detail: "unknown event " + e.Kind})
			return
		}
	}
}

// fail ends the conversation; the first reason counts.
func (p *Conversation) fail(f *wire.Fault) {
	p.mu.Lock()
	if p.waiting != nil {
		p.reason = Blame(p.name, f)
		for _, answer := range p.waiting {
			answer <- p.reason
		}
		p.waiting = nil
	}
	p.mu.Unlock()
	p.c.Shutdown()
}

// Call sends one command and waits for its EventReady. A proxyd that does not answer in time is gone.
func (p *Conversation) Call(ctx context.Context, cmd wire.ProxyCommand, fds ...int) error {
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
	late := time.AfterFunc(p.limit, func() { // also ends a Send that waits for room
		p.fail(&wire.Fault{Code: wire.CodePeerGone, Detail: "the peer did not answer in time"})
	})
	defer late.Stop()
	if err := p.c.Send(cmd, fds...); err != nil {
		return p.blame(err)
	}
	select {
	case f := <-answer:
		if f == nil {
			return nil
		}
		return f
	case <-ctx.Done():
		return p.blame(&wire.Fault{Code: wire.CodePeerGone, Detail: ctx.Err().Error()})
	}
}

// blame names proxyd in a fault that srt itself found. Why proxyd is gone says more than that it could not be told something.
func (p *Conversation) blame(err error) *wire.Fault {
	if f := p.Reason(); f != nil {
		return f
	}
	return Blame(p.name, err)
}

// Attach hands over the listeners of one command; files are closed here in any case.
func (p *Conversation) Attach(ctx context.Context, a wire.Attach, files []*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	err := p.Call(ctx, wire.ProxyCommand{Op: wire.OpAttach, Attach: &a}, fds...)
	for _, f := range files {
		f.Close()
	}
	return err
}

// Assign replaces the lists of one command for connections to come.
func (p *Conversation) Assign(ctx context.Context, a wire.Assign) error {
	return p.Call(ctx, wire.ProxyCommand{Op: wire.OpAssign, Assign: &a})
}

// Detach closes the listeners and connections of a command. Every event that proxyd had for it is in Events when it returns.
func (p *Conversation) Detach(ctx context.Context, commandID string) error {
	return p.Call(ctx, wire.ProxyCommand{Op: wire.OpDetach, Detach: commandID})
}

// Answer settles an EventAsk; proxyd does not answer back.
func (p *Conversation) Answer(_ context.Context, a wire.Answer) error {
	return p.c.Send(wire.ProxyCommand{Version: wire.Version, Op: wire.OpAnswer, Answer: &a})
}

// Events is closed when proxyd is gone.
func (p *Conversation) Events() <-chan wire.ProxyEvent { return p.events }

// Queued is how many events have gone into Events. After Detach it counts every event of the command.
func (p *Conversation) Queued() uint64 { return p.queued.Load() }

// Done is closed when proxyd is gone and everything that it had said is in Events.
func (p *Conversation) Done() <-chan struct{} { return p.done }

// Reason is why proxyd is gone, nil while it is not.
func (p *Conversation) Reason() *wire.Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason
}

// SetLimit bounds the time for one answer; before the first call.
func (p *Conversation) SetLimit(d time.Duration) { p.limit = d }
