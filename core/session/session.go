package session

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/pluginrpc"
	"github.com/srt-dev/srt/core/wire"
)

// Hooks are told what happens. They may be called from any goroutine; nil ones are skipped. All but Ask hold up the session while they
// run.
type Hooks struct {
	Violation func(wire.Violation)
	Allowed   func(wire.Decision)                  // only when the configuration or a request asks for an audit
	Ask       func(context.Context, wire.Ask) bool // without it every question is answered with no
}

// Options say how a session begins.
type Options struct {
	Helper string        // absolute path of the helper that serves sessions
	Proxy  string        // the same of proxyd
	Limit  time.Duration // for one answer of either; 0: oneshot.AnswerLimit
	Hooks  Hooks
	Log    *slog.Logger // what helper and proxyd say on stderr; nil: dropped
}

// Session is a helper and a proxyd that serve commands until Close. Every method may be called from everywhere at once.
type Session struct {
	o      Options
	thread *thread
	helper *pluginrpc.Helper
	proxy  *pluginrpc.Proxy
	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	events sync.WaitGroup
	asks   sync.WaitGroup

	told told // events of proxyd

	mu      sync.Mutex
	broken  *wire.Fault // why the session cannot go on
	closed  bool
	running map[*Command]struct{}
	using   sync.WaitGroup // commands that are not finished, and calls that start one
}

// Start starts helper and proxyd, and proxyd with cfg. The caller must call Close. The error is a *wire.Fault.
func Start(ctx context.Context, o Options, cfg wire.ProxyConfig) (_ *Session, err error) {
	s := &Session{o: o, thread: newThread(), running: map[*Command]struct{}{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	peer := func(path string) pluginrpc.Options {
		return pluginrpc.Options{Path: path, Limit: o.Limit, OnThread: s.thread.do, Log: o.Log}
	}
	started := make(chan error, 1)
	go func() {
		h, err := pluginrpc.StartHelper(ctx, peer(o.Helper))
		s.helper = h
		started <- err
	}()
	s.proxy, err = pluginrpc.StartProxy(ctx, peer(o.Proxy))
	if herr := <-started; err == nil {
		err = herr
	}
	if err != nil {
		return nil, err
	}
	s.events.Go(s.listen)
	s.events.Go(s.watch)
	if err := s.proxy.Configure(ctx, cfg); err != nil {
		return nil, err
	}
	return s, nil
}

// watch notes the end of helper or proxyd.
func (s *Session) watch() {
	select {
	case <-s.ctx.Done():
	case <-s.helper.Done():
		s.fail(&wire.Fault{Code: wire.CodePeerGone, Op: "watch", Path: s.o.Helper, Detail: "the helper ended", Hint: "start a new session"})
	case <-s.proxy.Done():
		f := &wire.Fault{Code: wire.CodePeerGone, Op: "watch", Path: s.o.Proxy, Detail: "proxyd ended: every connection fails", Hint: "start a new session"}
		if r := s.proxy.Reason(); r != nil && r.Code != wire.CodePeerGone {
			f.Code, f.Detail = r.Code, "proxyd ended: every connection fails: "+r.Detail
		}
		s.fail(f)
	}
}

// fail makes the session refuse everything from now on; the first reason counts.
func (s *Session) fail(f *wire.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil && !s.closed {
		s.broken = f
	}
}

// Err says why the session cannot go on, nil while it can.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err()
}

func (s *Session) err() error {
	switch {
	case s.broken != nil:
		return s.broken
	case s.closed:
		return &wire.Fault{Code: wire.CodePeerGone, Op: "use the session", Detail: "it is closed"}
	}
	return nil
}

// listen takes proxyd's events until it is gone.
func (s *Session) listen() {
	defer s.told.end()
	for e := range s.proxy.Events() {
		s.hear(e)
		s.told.one()
	}
}

func (s *Session) hear(e wire.ProxyEvent) {
	switch {
	case e.Kind == wire.EventViolation && e.Violation != nil && s.o.Hooks.Violation != nil:
		s.o.Hooks.Violation(*e.Violation)
	case e.Kind == wire.EventAllowed && e.Decision != nil && s.o.Hooks.Allowed != nil:
		s.o.Hooks.Allowed(*e.Decision)
	case e.Kind == wire.EventAsk && e.Ask != nil:
		s.asks.Go(func() {
			allow := s.o.Hooks.Ask != nil && s.o.Hooks.Ask(s.ctx, *e.Ask)
			_ = s.proxy.Answer(s.ctx, wire.Answer{ID: e.Ask.ID, Allow: allow}) // proxyd gone: nothing to allow
		})
	}
}

// Configure replaces the egress policy for connections to come. When it fails the one before stays.
func (s *Session) Configure(ctx context.Context, cfg wire.ProxyConfig) error {
	if err := s.Err(); err != nil {
		return err
	}
	return s.proxy.Configure(ctx, cfg)
}

// Check asks the helper whether the protections hold on this machine.
func (s *Session) Check(ctx context.Context, host wire.HostContext) (wire.CheckReport, error) {
	if err := s.Err(); err != nil {
		return wire.CheckReport{}, err
	}
	return s.helper.Check(ctx, wire.CheckRequest{Version: wire.Version, Host: host})
}

// HelperPid and ProxyPid are the process ids of the two.
func (s *Session) HelperPid() int { return s.helper.Pid() }

// ProxyPid: see HelperPid.
func (s *Session) ProxyPid() int { return s.proxy.Pid() }

// Close ends every command, waits until those who started them have seen that (Command.Finish), and then ends helper and proxyd.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.events.Wait()
		return nil
	}
	s.closed = true
	for c := range s.running {
		c.Stop()
	}
	s.mu.Unlock()
	s.using.Wait()
	s.cancel()
	if s.proxy != nil {
		s.proxy.Close()
	}
	if s.helper != nil {
		s.helper.Close()
	}
	s.events.Wait()
	s.asks.Wait()
	s.thread.stop()
	return nil
}
