package session

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/pidfd"
	"github.com/srt-dev/srt/core/wire"
)

// listen takes every word of the init. Whatever the contract does not foresee ends the command.
func (c *Command) listen() {
	h := &hearing{c: c}
	for {
		var m wire.ControlMessage
		fds, err := c.ctl.recv(&m)
		if err != nil {
			c.lost(err)
			break
		}
		if err := h.dispatch(&m, fds); err != nil {
			h.over = true // nothing that it says now counts
			c.fail(&wire.Fault{Code: wire.CodeMalformed, Op: "hear from the sandbox", Path: m.Kind, Detail: err.Error()})
		}
	}
	if !h.settled {
		close(c.started)
	}
	close(c.ended)
}

// hearing is how far the conversation has come.
type hearing struct {
	c         *Command
	listeners bool
	settled   bool // started is closed
	over      bool // nothing may follow
}

// dispatch owns fds.
func (h *hearing) dispatch(m *wire.ControlMessage, fds []int) error {
	c := h.c
	switch {
	case h.over:
	case m.Kind == wire.KindListeners && !h.listeners && !h.settled && len(fds) == len(m.Listeners):
		h.listeners = true
		c.attach(m.Listeners, fds)
		return nil
	case m.Kind == wire.KindStarted && !h.settled && len(fds) == 1:
		p, err := pidfd.Take(fds[0])
		if err != nil {
			return err
		}
		c.ctl.due(time.Time{})
		c.mu.Lock()
		c.target = p
		c.mu.Unlock()
		h.settle()
		return nil
	}
	oneshot.CloseAll(fds)
	switch {
	case len(fds) > 0:
		return fmt.Errorf("%d descriptors that do not belong to it", len(fds))
	case h.over:
		return errors.New("the message comes after the end")
	case m.Kind == wire.KindFault && m.Fault != nil:
		h.over = true
		c.fail(m.Fault)
	case m.Kind == wire.KindViolation && m.Violation != nil:
		if tell := c.s.o.Hooks.Violation; tell != nil {
			m.Violation.CommandID = c.id
			tell(*m.Violation)
		}
	case m.Kind == wire.KindAllowed && m.Allowed != nil:
		if tell := c.s.o.Hooks.Allowed; tell != nil {
			m.Allowed.CommandID = c.id
			tell(*m.Allowed)
		}
	case m.Kind == wire.KindStopped && m.Stopped != nil && h.settled: // whoever stopped it may continue it
	case m.Kind == wire.KindReport:
		c.mu.Lock()
		c.report = append(c.report, m.Report...)
		c.mu.Unlock()
	case m.Kind == wire.KindExit && m.Exit != nil && h.settled:
		h.over = true
		c.mu.Lock()
		c.exit = m.Exit
		c.killLater()
		c.mu.Unlock()
	default:
		return errors.New("the message does not belong here")
	}
	return nil
}

func (h *hearing) settle() {
	h.settled = true
	close(h.c.started)
}

// lost: the init's end is closed, or the conversation broke.
func (c *Command) lost(err error) {
	f := &wire.Fault{Code: wire.CodePeerGone, Op: "run the sandbox", Detail: "it ended before the command had started",
		Hint: "srt doctor says what this machine lacks"}
	c.mu.Lock()
	known, stopped := c.exit != nil || c.fault != nil, c.stopped
	if c.target != nil {
		f.Detail, f.Hint = "it ended without saying how the command did", ""
	}
	c.mu.Unlock()
	broken, isFault := errors.AsType[*wire.Fault](err)
	switch {
	case known || stopped:
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.Detail = "no sign of life for too long"
	case isFault && broken.Code != wire.CodePeerGone:
		f = broken
	}
	c.fail(f)
}
