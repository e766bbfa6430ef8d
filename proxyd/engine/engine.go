// Package engine holds what srt told proxyd: the policy in force and the commands with their listeners. The channel drives it; it must
// never look at a connection's bytes.
package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/acl"
	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/front"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/report"
)

// Engine is the state of proxyd. Its errors are *wire.Fault.
type Engine struct {
	gate  *gate.Gate
	front *front.Front

	mu         sync.Mutex
	configured bool
	closed     bool
	commands   map[string]*attached
}

// attached is a command with its listeners.
type attached struct {
	command   *client.Command
	listeners []*net.TCPListener
}

// New makes an Engine that allows nothing. Events go to out, records to log (while the configuration has Debug).
func New(out *report.Outbox, log *slog.Logger) *Engine {
	g := gate.New(out, log)
	return &Engine{gate: g, front: front.New(g), commands: make(map[string]*attached)}
}

// Configure puts cfg in force for connections and requests to come. When it fails the old configuration stays.
func (e *Engine) Configure(cfg wire.ProxyConfig) error {
	if cfg.Version != wire.Version {
		return &wire.Fault{Code: wire.CodeVersion, Op: "configure proxyd", Detail: fmt.Sprintf("the configuration has version %d, not %d", cfg.Version, wire.Version)}
	}
	p, err := gate.Compile(cfg)
	if err != nil {
		return &wire.Fault{Code: wire.CodePolicy, Op: "configure proxyd", Detail: err.Error()}
	}
	e.gate.Set(p)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.configured = true
	return nil
}

// Attach starts serving the listeners of one command. It takes ownership of files, one per listener, in order, also when it fails.
func (e *Engine) Attach(a wire.Attach, files []*os.File) error {
	fault := func(code, format string, v ...any) error {
		return &wire.Fault{Code: code, Op: "attach command", Path: a.CommandID, Detail: fmt.Sprintf(format, v...)}
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	own, err := acl.NewLists(a.Lists)
	if err != nil {
		return fault(wire.CodePolicy, "%v", err)
	}
	targets, err := destinations(a.Listeners)
	if err != nil {
		return fault(wire.CodeMalformed, "%v", err)
	}
	at := &attached{}
	if a.Listen != "" || a.Token != "" {
		err = at.open(a, len(files))
	} else {
		err = at.take(a, files)
	}
	if err != nil {
		at.close()
		if f, ok := errors.AsType[*wire.Fault](err); ok {
			return fault(f.Code, "%s", f.Detail)
		}
		return fault(wire.CodeMalformed, "%v", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed || !e.configured:
		at.close()
		return fault(wire.CodeMalformed, "a configuration has to come first")
	case a.CommandID == "" || e.commands[a.CommandID] != nil:
		at.close()
		return fault(wire.CodeMalformed, "the command id is empty or in use")
	}
	at.command = client.NewCommand(a.CommandID, own, a.Token)
	e.commands[a.CommandID] = at
	for i, ln := range at.listeners {
		if a.Listeners[i].Role == wire.RoleMirror {
			go e.front.Mirror(at.command, ln, targets[i])
		} else {
			go e.front.Proxy(at.command, ln)
		}
	}
	return nil
}

// Assign replaces the lists of one command for connections and requests to come. When it fails the lists before stay.
func (e *Engine) Assign(a wire.Assign) error {
	own, err := acl.NewLists(a.Lists)
	if err != nil {
		return &wire.Fault{Code: wire.CodePolicy, Op: "assign lists to command", Path: a.CommandID, Detail: err.Error()}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.commands[a.CommandID]
	if at == nil {
		return &wire.Fault{Code: wire.CodeNotFound, Op: "assign lists to command", Path: a.CommandID, Detail: "no such command is attached"}
	}
	at.command.Assign(own)
	return nil
}

// Detach closes the listeners and connections of a command that has ended.
func (e *Engine) Detach(id string) error {
	e.mu.Lock()
	at := e.commands[id]
	delete(e.commands, id)
	e.mu.Unlock()
	if at == nil {
		return &wire.Fault{Code: wire.CodeNotFound, Op: "detach command", Path: id, Detail: "no such command is attached"}
	}
	at.close()
	return nil
}

// Answer settles a question. One that nobody asks any more is dropped: it crossed its time-out on the way.
func (e *Engine) Answer(a wire.Answer) { e.gate.Answer(a) }

// Close ends everything.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	all := e.commands
	e.commands = make(map[string]*attached)
	e.mu.Unlock()
	for _, at := range all {
		at.close()
	}
}

func (a *attached) close() {
	if a.command != nil {
		defer a.command.Close()
	}
	for _, ln := range a.listeners {
		ln.Close()
	}
}
