// Package proxytest runs proxyd's engine inside a test: one attached command, its proxy address, and what was reported. Nothing but tests
// may import it.
package proxytest

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/engine"
	"github.com/srt-dev/srt/proxyd/report"
)

// Proxy is an engine with one command.
type Proxy struct {
	*engine.Engine
	Addr string // of the command's proxy listener

	mu     sync.Mutex
	events []wire.ProxyEvent
}

// Start runs an engine under cfg (the version is filled in) with command "cmd" attached. It ends with the test.
func Start(t testing.TB, cfg wire.ProxyConfig) *Proxy {
	t.Helper()
	out := report.NewOutbox()
	p := &Proxy{Engine: engine.New(out, slog.New(slog.DiscardHandler))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, ok := out.Next(); ok; e, ok = out.Next() {
			p.mu.Lock()
			p.events = append(p.events, e)
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		p.Close()
		out.Close()
		<-done
	})
	p.Set(t, cfg)
	p.Addr = p.Attach(t, wire.Attach{CommandID: "cmd"}, wire.Listener{Role: wire.RoleProxy})
	return p
}

// Set puts cfg in force.
func (p *Proxy) Set(t testing.TB, cfg wire.ProxyConfig) {
	t.Helper()
	cfg.Version = wire.Version
	if err := p.Configure(cfg); err != nil {
		t.Fatal(err)
	}
}

// Attach attaches a command with one new listener and gives its address.
func (p *Proxy) Attach(t testing.TB, a wire.Attach, l wire.Listener) string {
	t.Helper()
	f, addr := Listener(t)
	a.Listeners = []wire.Listener{l}
	if err := p.Engine.Attach(a, []*os.File{f}); err != nil {
		t.Fatal(err)
	}
	return addr
}

// Guard attaches a command whose port proxyd opens itself, and gives its address.
func (p *Proxy) Guard(t testing.TB, a wire.Attach) string {
	t.Helper()
	a.Listeners = []wire.Listener{{Role: wire.RoleProxy}}
	for range 100 {
		f, addr := Listener(t)
		f.Close()
		a.Listen = addr
		err := p.Engine.Attach(a, nil)
		if fault, ok := errors.AsType[*wire.Fault](err); ok && fault.Code == wire.CodeBusy {
			continue // somebody else was quicker
		}
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	t.Fatal("no port was free a hundred times")
	return ""
}

// Listener makes a listening socket of the kind that a sandbox hands out.
func Listener(t testing.TB) (f *os.File, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if f, err = ln.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	return f, ln.Addr().String()
}

// Origin accepts connections and hands each to serve; it gives its address.
func Origin(t testing.TB, serve func(c *net.TCPConn)) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			}()
		}
	}()
	return ln.Addr().String()
}

// Dial connects to addr, with a deadline for everything.
func Dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return c.(*net.TCPConn)
}

// Events gives what was reported so far of one kind.
func (p *Proxy) Events(kind string) []wire.ProxyEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []wire.ProxyEvent
	for _, e := range p.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Forget drops what was reported so far.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = nil
}

// Wait waits until n events of one kind were reported, and gives them.
func (p *Proxy) Wait(t testing.TB, kind string, n int) []wire.ProxyEvent {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if e := p.Events(kind); len(e) >= n {
			return e
		}
	}
	t.Fatalf("%d events of kind %q where %d were expected", len(p.Events(kind)), kind, n)
	return nil
}

// Violation waits for the only violation so far and checks it.
func (p *Proxy) Violation(t testing.TB, target, reason string) {
	t.Helper()
	e := p.Wait(t, wire.EventViolation, 1)
	last := e[len(e)-1].Violation
	if last.Target != target || last.Reason != reason || last.Operation != report.Operation || last.CommandID == "" || last.Count < 1 || last.TimeMs == 0 {
		t.Errorf("violation %+v, want target %q, reason %q", last, target, reason)
	}
}
