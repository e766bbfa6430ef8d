package launch

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// endLimit is how long the plan's process has to take the command and what it put on files away, when srt ends it.
const endLimit = 20 * time.Second

// lastLimit is how long proxyd has to tell what it refused last.
const lastLimit = 2 * time.Second

// Run is one command on its way through the sandbox: proxyd with a port of its own for it, and the process of the helper's plan, which
// does all the rest.
type Run struct {
	o     Options
	proxy *oneshot.Proxy

	events sync.WaitGroup // of proxyd
	mu     sync.Mutex
	cfg    *wire.ProxyConfig // what proxyd gets next; nil: it has everything
	change chan struct{}
	reason *wire.Fault
	over   chan struct{} // closed when srt ends the command
}

// Begin starts nothing yet: which port proxyd may have stands in the settings. The caller must call Wait or Cancel.
func Begin(o Options) (*Run, error) {
	return &Run{o: o, change: make(chan struct{}, 1), over: make(chan struct{})}, nil
}

// Terminal says no: the plan's process looks for a console itself.
func (r *Run) Terminal() (attached, foreground bool) { return false, false }

// IgnoredSignals are none.
func IgnoredSignals() []int { return []int{} }

// Place starts proxyd, which opens a port for the command, and says where it is.
func (r *Run) Place(t Terms) (*Place, error) {
	p, err := oneshot.StartProxy(r.o.Proxy)
	if err != nil {
		return nil, err
	}
	r.proxy = p
	r.events.Go(r.listen)
	return settle(context.Background(), p, t)
}

// Cancel ends a run that was begun.
func (r *Run) Cancel() {
	if r.proxy != nil {
		_ = r.proxy.Close() // its end is all that is wanted
	}
	r.events.Wait()
}

// Wait executes the helper's plan and stays until its process has ended. cfg is what proxyd gets.
func (r *Run) Wait(req wire.LaunchRequest, cfg wire.ProxyConfig) (out Outcome) {
	defer r.Cancel()
	fail := func(err error) Outcome { return Outcome{Fault: oneshot.AsFault(err)} }
	ctx := context.Background()
	if err := r.proxy.Configure(ctx, cfg); err != nil {
		return fail(err)
	}
	plan, err := (&oneshot.Helper{Path: r.o.Helper}).Prepare(ctx, req)
	if err != nil {
		return fail(err)
	}
	if r.o.Hooks.Plan != nil {
		r.o.Hooks.Plan(plan)
	}
	// The plan's process hears the console too, and hands on what it hears; srt stays until that has ended.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(heard)
	p, err := execute(plan)
	if err != nil {
		return fail(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	go r.steer(ctx, p, stop)
	code, err := p.wait()
	if err != nil {
		return fail(err)
	}
	last, cancel := context.WithTimeout(ctx, lastLimit)
	defer cancel()
	_ = r.proxy.Detach(last, req.CommandID) // tells what proxyd refused last; when it is gone there is nothing to tell
	r.mu.Lock()
	defer r.mu.Unlock()
	return Outcome{Started: true, Exit: wire.Exit{Code: code}, Fault: r.reason}
}

// steer brings proxyd later configurations and ends the command when that is asked for.
func (r *Run) steer(ctx context.Context, p *process, stop <-chan struct{}) {
	over, gone := r.over, r.proxy.Done()
	for {
		select {
		case <-stop:
			return
		case <-over:
			over = nil
			p.end(endLimit)
		case <-gone:
			gone = nil
			r.notice("proxyd ended: every connection fails from now on; the command goes on")
		case <-r.change:
			r.mu.Lock()
			cfg := r.cfg
			r.cfg = nil
			r.mu.Unlock()
			if cfg == nil {
				continue
			}
			if err := r.proxy.Configure(ctx, *cfg); err != nil {
				r.notice(err.Error() + ": the network lists before it stay in force")
			}
		}
	}
}

// listen takes proxyd's events until it is gone.
func (r *Run) listen() {
	h := &r.o.Hooks
	for e := range r.proxy.Events() {
		switch {
		case e.Kind == wire.EventViolation && e.Violation != nil && h.Violation != nil:
			h.Violation(*e.Violation)
		case e.Kind == wire.EventAllowed && e.Decision != nil && h.Allowed != nil:
			h.Allowed(*e.Decision)
		case e.Kind == wire.EventAsk && e.Ask != nil:
			go func() {
				allow := h.Ask != nil && h.Ask(*e.Ask)
				_ = r.proxy.Answer(context.Background(), wire.Answer{ID: e.Ask.ID, Allow: allow}) // proxyd gone: nothing to allow
			}()
		}
	}
}

func (r *Run) notice(text string) {
	if r.o.Hooks.Notice != nil {
		r.o.Hooks.Notice(text)
	}
}

// Configure replaces the network lists for connections to come. It may be called from any goroutine.
func (r *Run) Configure(cfg wire.ProxyConfig) {
	r.mu.Lock()
	r.cfg = &cfg
	r.mu.Unlock()
	select {
	case r.change <- struct{}{}:
	default:
	}
}

// End ends the command for a reason of srt's own. It may be called from any goroutine; the first reason counts.
func (r *Run) End(reason *wire.Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == nil {
		r.reason = reason
		close(r.over)
	}
}

// Borrow has no terminal to lend.
func (r *Run) Borrow(func(tty int)) bool { return false }
