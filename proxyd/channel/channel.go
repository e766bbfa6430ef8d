// Package channel is proxyd's end of the conversation with srt (core/wire, proxy.go): it reads commands with the descriptors that ride on
// them, hands them to the engine, and writes events. It must never act on a message that it does not understand completely: such a
// message ends the process, and with it every connection.
package channel

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/engine"
	"github.com/srt-dev/srt/proxyd/report"
)

// transport carries messages with descriptors and keeps their borders.
type transport interface {
	// recv waits for one message; io.EOF when srt's end is closed. The files are the caller's.
	recv() (msg []byte, files []*os.File, err error)
	send(msg []byte) error
	limit() int // of a message that is received, in bytes
	Close() error
}

// Serve speaks with srt over descriptor fd, which it takes over, until srt's end closes (nil) or the conversation breaks (the reason).
func Serve(fd uintptr, log *slog.Logger) error {
	t, err := open(fd)
	if err != nil {
		return fmt.Errorf("open the channel to srt: %w", err)
	}
	return serve(t, log)
}

func serve(t transport, log *slog.Logger) error {
	out := report.NewOutbox()
	e := engine.New(out, log)
	written := make(chan error, 1)
	go func() { written <- write(t, out) }()
	err := read(t, e, out)
	e.Close()
	if err != nil { // srt may still be listening: it learns why
		out.Put(wire.ProxyEvent{Kind: wire.EventReady, Fault: asFault(err)})
		hurry := time.AfterFunc(farewell, func() { t.Close() })
		defer hurry.Stop()
		out.Drain()
	} else {
		t.Close()
	}
	out.Close()
	if werr := <-written; err == nil && !errors.Is(werr, net.ErrClosed) {
		err = werr
	}
	t.Close()
	return err
}

// farewell is how long srt has to take the last event.
const farewell = time.Second

// write sends the events in order until the box is closed.
func write(t transport, out *report.Outbox) error {
	for {
		e, ok := out.Next()
		if !ok {
			return nil
		}
		msg, err := wire.Encode(e)
		if err == nil && len(msg) > wire.MaxProxyMessage {
			err = errors.New("an event that is too long (a bug, please report)")
		}
		if err == nil {
			err = t.send(msg)
		}
		if err != nil {
			out.Close()
			t.Close() // wakes read: without a listener there is no reason to go on
			return err
		}
	}
}

func read(t transport, e *engine.Engine, out *report.Outbox) error {
	for {
		msg, files, err := t.recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			closeAll(files)
			return &wire.Fault{Code: wire.CodeMalformed, Op: "read from srt", Detail: err.Error()}
		}
		var cmd wire.ProxyCommand
		if err := wire.Decode(msg, t.limit(), &cmd); err != nil {
			closeAll(files)
			return err
		}
		if err := obey(e, cmd, files); cmd.Op != wire.OpAnswer {
			out.Put(wire.ProxyEvent{Kind: wire.EventReady, Seq: cmd.Seq, Fault: asFault(err)})
		}
	}
}

// obey carries out one command. It takes ownership of files.
func obey(e *engine.Engine, cmd wire.ProxyCommand, files []*os.File) error {
	malformed := func(detail string) error {
		closeAll(files)
		return &wire.Fault{Code: wire.CodeMalformed, Op: cmd.Op, Detail: detail}
	}
	carried := 0
	for _, set := range []bool{cmd.Config != nil || cmd.ConfigFD, cmd.Attach != nil, cmd.Assign != nil, cmd.Detach != "", cmd.Answer != nil} {
		if set {
			carried++
		}
	}
	if carried != 1 || cmd.Config != nil && cmd.ConfigFD {
		return malformed("not exactly the field that belongs to the operation")
	}
	if len(files) > 0 && !(cmd.Op == wire.OpAttach || cmd.Op == wire.OpConfigure && cmd.ConfigFD) {
		return malformed("descriptors that do not belong to the operation")
	}
	switch {
	case cmd.Op == wire.OpConfigure && cmd.Config != nil:
		return e.Configure(*cmd.Config)
	case cmd.Op == wire.OpConfigure && cmd.ConfigFD:
		if len(files) != 1 {
			return malformed("a configuration travels in one descriptor")
		}
		cfg, err := readConfig(files[0])
		if err != nil {
			return err
		}
		return e.Configure(cfg)
	case cmd.Op == wire.OpAttach && cmd.Attach != nil:
		return e.Attach(*cmd.Attach, files)
	case cmd.Op == wire.OpAssign && cmd.Assign != nil:
		return e.Assign(*cmd.Assign)
	case cmd.Op == wire.OpDetach && cmd.Detach != "":
		return e.Detach(cmd.Detach)
	case cmd.Op == wire.OpAnswer && cmd.Answer != nil:
		e.Answer(*cmd.Answer)
		return nil
	}
	return malformed("not an operation with what belongs to it")
}

// readConfig reads a configuration from an anonymous file, from its beginning.
func readConfig(f *os.File) (cfg wire.ProxyConfig, err error) {
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, wire.MaxProxyConfig+1))
	if err != nil {
		return cfg, &wire.Fault{Code: wire.CodeMalformed, Op: wire.OpConfigure, Detail: err.Error()}
	}
	return cfg, wire.Decode(b, wire.MaxProxyConfig, &cfg)
}

// asFault keeps nil nil.
func asFault(err error) *wire.Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*wire.Fault](err); ok {
		return f
	}
	return &wire.Fault{Code: wire.CodeInternal, Op: "proxyd", Detail: err.Error()}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
