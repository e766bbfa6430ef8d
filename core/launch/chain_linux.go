package launch

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/pidfd"
	"github.com/srt-dev/srt/core/wire"
)

// chain is the way on Linux: the helper, entered through bwrap or becoming it, answers, and the init inside speaks on the control channel (wire/control.go).
type chain struct {
	launch        *oneshot.Launch
	entered       bool // the helper itself runs in the namespaces
	answered      bool
	listenersCame bool
	helper        string
}

// lastBreath is how long bubblewrap may take to end after it has failed.
const lastBreath = time.Second

// explainLimit bounds how long the search for the reason of a failure may take.
const explainLimit = 10 * time.Second

func (c *chain) begin(r *Run) error { return c.start(r, r.o.Enter) }

func (c *chain) start(r *Run, enter []string) (err error) {
	c.helper = r.o.Helper
	h := &oneshot.Helper{Path: c.helper}
	c.launch, err = h.Start(oneshot.LaunchOptions{Terminal: r.tty != nil, PassFDs: r.o.PassFDs, Enter: enter})
	c.entered = enter != nil
	return err
}

func (c *chain) request(r *Run, req wire.LaunchRequest) error {
	if c.entered && (req.Host.BwrapPath != "" || req.Process.WeakerNested) { // through another bubblewrap, or where a look is needed first
		c.kill()
		c.close(0)
		if err := c.start(r, nil); err != nil {
			return err
		}
	}
	if err := c.launch.Send(req); err != nil {
		return c.gone(err)
	}
	r.due = time.Now().Add(r.limits.answer)
	r.loop.add(c.launch.AnswerFD(), func() { c.onAnswer(r) })
	r.loop.add(c.launch.Control.FD(), func() { c.onControl(r) })
	if fd := c.launch.EndFD(); fd >= 0 {
		r.loop.add(fd, func() { c.onEnd(r) })
	}
	return nil
}

func (c *chain) kill() { c.launch.Kill() }

func (c *chain) close(limit time.Duration) unix.WaitStatus { return c.launch.Close(limit) }

// onAnswer reads the helper's plan.
func (c *chain) onAnswer(r *Run) {
	r.loop.remove(c.launch.AnswerFD())
	plan, err := c.launch.Answer()
	if err != nil {
		r.fail(c.gone(err))
		return
	}
	c.answered = true
	r.due = time.Now().Add(r.limits.start)
	r.planned(plan)
}

// gone says what it means that nothing was heard of the helper: bubblewrap, which should have started it, has failed.
func (c *chain) gone(err error) error {
	if !c.entered || oneshot.AsFault(err).Code != wire.CodePeerGone {
		return err
	}
	if fd := c.launch.EndFD(); fd >= 0 {
		readable(fd, lastBreath) // killed now, it could not show by its status that it gave up itself
	}
	return neverStarted()
}

// onControl reads one word of the init. Whatever the contract does not foresee ends the run.
func (c *chain) onControl(r *Run) {
	var m wire.ControlMessage
	fds, err := c.launch.Control.Recv(&m)
	if err != nil {
		c.controlGone(r, err)
		return
	}
	if err := c.dispatch(r, &m, fds); err != nil {
		r.fail(&wire.Fault{Code: wire.CodeMalformed, Op: "hear from the sandbox", Path: m.Kind, Detail: err.Error()})
	}
}

// onEnd: the helper or the wrapper has ended. What was sent before still counts; a process that it left holds the channel open, so
// that the end of the channel may never come.
func (c *chain) onEnd(r *Run) {
	r.loop.remove(c.launch.EndFD())
	for !r.loop.done && readable(c.launch.Control.FD(), 0) {
		c.onControl(r)
	}
	if !r.loop.done {
		c.kill() // what is left of the wrapper holds the descriptor that the answer would come on, too
		c.controlGone(r, &wire.Fault{Code: wire.CodePeerGone})
	}
}

// dispatch owns fds.
func (c *chain) dispatch(r *Run, m *wire.ControlMessage, fds []int) error {
	switch {
	case m.Kind == wire.KindListeners && !c.listenersCame && r.command == nil && len(fds) == len(m.Listeners):
		c.listenersCame = true
		r.hold(m.Listeners, fds)
		return nil
	case m.Kind == wire.KindStarted && r.command == nil && len(fds) == 1:
		p, err := pidfd.Take(fds[0])
		if err != nil {
			return err
		}
		r.started(pidfdTarget{p})
		return nil
	}
	oneshot.CloseAll(fds)
	switch {
	case len(fds) > 0:
		return fmt.Errorf("%d descriptors that do not belong to it", len(fds))
	case m.Kind == wire.KindFault && m.Fault != nil:
		r.fail(m.Fault)
	case m.Kind == wire.KindViolation && m.Violation != nil:
		r.violation(*m.Violation)
	case m.Kind == wire.KindAllowed && m.Allowed != nil:
		r.allowed(*m.Allowed)
	case m.Kind == wire.KindStopped && m.Stopped != nil && r.command != nil:
		r.stopped(syscall.Signal(m.Stopped.Signal))
	case m.Kind == wire.KindReport:
		if r.o.Hooks.Report != nil {
			r.o.Hooks.Report(m.Report)
		}
	case m.Kind == wire.KindExit && m.Exit != nil && r.command != nil:
		r.exit(*m.Exit)
	default:
		return errors.New("the message does not belong here")
	}
	return nil
}

// controlGone: the init has closed its end without KindExit, or broke the contract.
func (c *chain) controlGone(r *Run, err error) {
	if !c.answered {
		c.onAnswer(r) // the helper's own word says more; it has ended, so this does not wait
		if r.out.Fault != nil {
			return
		}
	}
	f := oneshot.AsFault(err)
	if f.Code == wire.CodePeerGone {
		f = neverStarted()
		if r.command != nil {
			f.Detail, f.Hint = "it ended without saying how the command did", ""
		}
	}
	r.fail(f)
}

func neverStarted() *wire.Fault {
	return &wire.Fault{Code: wire.CodePeerGone, Op: "run the sandbox", Detail: "it ended before the command had started",
		Hint: "srt doctor says what this machine lacks"}
}

// explain asks the helper to try a sandbox of its own, which costs nothing that anybody waits for: there was no run.
func (c *chain) explain(host wire.HostContext) *wire.Fault {
	ctx, cancel := context.WithTimeout(context.Background(), explainLimit)
	defer cancel()
	report, err := (&oneshot.Helper{Path: c.helper}).Check(ctx, wire.CheckRequest{Version: wire.Version, Host: host})
	if err != nil {
		return nil
	}
	for _, i := range report.Items {
		if i.State == wire.CheckFail {
			return &wire.Fault{Code: wire.CodeUnsupported, Op: "start " + i.Name, Detail: i.Detail, Hint: i.Fix}
		}
	}
	return nil
}

// readable says whether a read from fd would not wait, within limit.
func readable(fd int, limit time.Duration) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(limit.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

func (r *Run) allowed(d wire.Decision) {
	if r.o.Hooks.Allowed != nil {
		r.o.Hooks.Allowed(d)
	}
}
