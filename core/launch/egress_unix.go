//go:build linux || darwin

package launch

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// egress holds the listeners of the command until the first connection arrives in one of their backlogs, and then gives them to a
// proxyd that it starts. When proxyd is gone its listeners are gone with it: connections fail, and nothing takes its place.
type egress struct {
	path      string
	commandID string
	hooks     *Hooks

	mu      sync.Mutex
	cfg     wire.ProxyConfig
	changed chan struct{} // cfg is newer than what proxyd has

	proxy     *oneshot.Proxy
	listeners []wire.Listener
	fds       []int // the listeners, until proxyd has them
	workers   sync.WaitGroup
	stop      context.CancelFunc
	lost      func() // called, perhaps more than once and from any goroutine, when no connection will be served any more
}

func newEgress(path, commandID string, cfg wire.ProxyConfig, hooks *Hooks, lost func()) *egress {
	return &egress{path: path, commandID: commandID, cfg: cfg, hooks: hooks, changed: make(chan struct{}, 1), lost: lost}
}

// hold takes the listeners; fds are the egress's from now on.
func (e *egress) hold(listeners []wire.Listener, fds []int) {
	e.listeners, e.fds = listeners, fds
}

// configure replaces the network lists for connections to come. It may be called from any goroutine.
func (e *egress) configure(cfg wire.ProxyConfig) {
	e.mu.Lock()
	e.cfg = cfg
	e.mu.Unlock()
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func (e *egress) config() wire.ProxyConfig {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg
}

// start starts proxyd on the calling thread and lets it work. gone is called once, from another goroutine, when proxyd ends before close.
func (e *egress) start(gone func()) error {
	p, err := oneshot.StartProxy(e.path)
	if err != nil {
		e.closeListeners()
		e.lost()
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	e.proxy, e.stop = p, stop
	e.workers.Go(func() {
		e.listen(p)
		e.lost()
		gone()
	})
	files := make([]*os.File, len(e.fds))
	for i, fd := range e.fds {
		files[i] = os.NewFile(uintptr(fd), "listener")
	}
	e.fds = nil
	e.workers.Go(func() { e.serve(ctx, p, files) })
	return nil
}

// serve configures proxyd, hands it the listeners, and brings it later configurations.
func (e *egress) serve(ctx context.Context, p *oneshot.Proxy, files []*os.File) {
	err := p.Configure(ctx, e.config())
	if err == nil {
		err = p.Attach(ctx, wire.Attach{CommandID: e.commandID, Listeners: e.listeners}, files)
	} else {
		for _, f := range files {
			f.Close()
		}
	}
	if err != nil {
		e.lost()
		e.complain(ctx, p, err, noConnections)
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.changed:
			if err := p.Configure(ctx, e.config()); err != nil {
				e.complain(ctx, p, err, "the network lists before it stay in force")
			}
		}
	}
}

const noConnections = "every connection fails from now on; the command goes on"

// complain tells the user what proxyd refused. One that is gone, or does not answer any more, is ended: its end is told elsewhere, once.
func (e *egress) complain(ctx context.Context, p *oneshot.Proxy, err error, consequence string) {
	switch {
	case ctx.Err() != nil:
	case oneshot.AsFault(err).Code == wire.CodePeerGone:
		p.Kill()
	case e.hooks.Notice != nil:
		e.hooks.Notice(err.Error() + ": " + consequence)
	}
}

// listen takes proxyd's events until it is gone.
func (e *egress) listen(p *oneshot.Proxy) {
	for ev := range p.Events() {
		switch {
		case ev.Kind == wire.EventViolation && ev.Violation != nil && e.hooks.Violation != nil:
			e.hooks.Violation(*ev.Violation)
		case ev.Kind == wire.EventAllowed && ev.Decision != nil && e.hooks.Allowed != nil:
			e.hooks.Allowed(*ev.Decision)
		case ev.Kind == wire.EventAsk && ev.Ask != nil:
			go func() {
				allow := e.hooks.Ask != nil && e.hooks.Ask(*ev.Ask)
				_ = p.Answer(context.Background(), wire.Answer{ID: ev.Ask.ID, Allow: allow}) // proxyd gone: nothing to allow
			}()
		}
	}
}

func (e *egress) closeListeners() {
	oneshot.CloseAll(e.fds)
	e.fds = nil
}

// close ends proxyd, with every event delivered that it had for the command: it is asked for them, because what it has not sent yet ends
// with it. limit is how long it has for that.
func (e *egress) close(limit time.Duration) {
	e.closeListeners()
	if e.proxy == nil {
		return
	}
	last, cancel := context.WithTimeout(context.Background(), limit)
	_ = e.proxy.Detach(last, e.commandID) // it is gone, or never got the listeners: there is nothing to tell
	cancel()
	e.stop()
	e.proxy.Close()
	e.workers.Wait()
}
