//go:build linux || darwin

package launch

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// limits bound every wait for another process of srt. They are there for one that hangs, not for a slow machine.
type limits struct {
	answer time.Duration // for the helper's plan
	start  time.Duration // from the plan to the start of the command
	end    time.Duration // from the command's end to the end of its sandbox, which is killed then
}

var generous = limits{answer: oneshot.AnswerLimit, start: 60 * time.Second, end: 2 * time.Second}

// Run is one command on its way through the sandbox.
type Run struct {
	o      Options
	limits limits
	loop   *loop
	launch *oneshot.Launch
	tty    *terminal

	answered      bool
	due           time.Time // when the next answer is overdue; zero: none is awaited
	listenersCame bool
	command       target // nil until it has started
	askedToStop   bool   // srt itself was told to stop
	wantsTerminal bool   // the command has shown that it uses the terminal
	lent          bool   // srt itself has the terminal for a question
	takeBack      bool   // the command had it before the question
	ended         chan struct{}
	egress        *egress
	exited        bool
	out           Outcome
}

// Begin starts the helper, so that its start-up runs beside the reading of the settings. The caller must be the main goroutine,
// locked to its thread in an init function, and must call Wait or Cancel. The error is a *wire.Fault.
func Begin(o Options) (*Run, error) {
	l, err := newLoop()
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "prepare to wait", Detail: err.Error()}
	}
	tty := findTerminal()
	h := &oneshot.Helper{Path: o.Helper}
	started, err := h.Start(oneshot.LaunchOptions{Terminal: tty != nil, PassFDs: o.PassFDs})
	if err != nil {
		l.close()
		return nil, err
	}
	return &Run{o: o, limits: generous, loop: l, launch: started, tty: tty, ended: make(chan struct{})}, nil
}

// Terminal says, for the request, whether a controlling terminal is attached and whether the command starts in its foreground.
func (r *Run) Terminal() (attached, foreground bool) { return r.tty != nil, r.tty.foreground() }

// Cancel ends a run that was begun; nothing has been executed but the helper.
func (r *Run) Cancel() {
	r.launch.Kill()
	r.launch.Close(0)
	r.loop.close()
}

// Wait sends the request and stays until the command has ended and nothing of it is left. cfg is what proxyd gets when it is needed.
func (r *Run) Wait(req wire.LaunchRequest, cfg wire.ProxyConfig) Outcome {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r.tty != nil {
		r.tty.given = req.Command.Foreground // by the init, before it runs the command or fails to
	}
	r.egress = newEgress(r.o.Proxy, req.CommandID, cfg, &r.o.Hooks)
	if err := r.launch.Send(req); err != nil {
		r.fail(err)
	} else {
		// Only now, while the helper works: before it a signal simply ends srt, and with it the helper.
		defer r.watchSignals()()
		r.due = time.Now().Add(r.limits.answer)
		r.loop.add(r.launch.AnswerFD(), r.onAnswer)
		r.loop.add(r.launch.Control.FD(), r.onControl)
		if fd := r.launch.EndFD(); fd >= 0 {
			r.loop.add(fd, r.onEnd)
		}
		if !r.loop.run(func() time.Time { return r.due }) {
			r.fail(&wire.Fault{Code: wire.CodePeerGone, Op: "start the sandbox", Detail: "no sign of life for too long"})
		}
	}
	r.finish()
	return r.out
}

// Configure replaces the network lists for connections to come. It may be called from any goroutine once Wait runs.
func (r *Run) Configure(cfg wire.ProxyConfig) { r.loop.post(func() { r.egress.configure(cfg) }) }

// End ends the command for a reason of srt's own. It may be called from any goroutine.
func (r *Run) End(reason *wire.Fault) { r.loop.post(func() { r.fail(reason) }) }

// fail ends the run; the first reason counts.
func (r *Run) fail(err error) {
	if r.out.Fault == nil && !r.exited {
		r.out.Fault = oneshot.AsFault(err)
	}
	r.loop.done = true
}

// onAnswer reads the helper's plan.
func (r *Run) onAnswer() {
	r.loop.remove(r.launch.AnswerFD())
	plan, err := r.launch.Answer()
	if err != nil {
		r.fail(err)
		return
	}
	r.answered = true
	r.due = time.Now().Add(r.limits.start)
	if r.o.Hooks.Plan != nil {
		r.o.Hooks.Plan(plan)
	}
}

// onControl reads one word of the init. Whatever the contract does not foresee ends the run.
func (r *Run) onControl() {
	var m wire.ControlMessage
	fds, err := r.launch.Control.Recv(&m)
	if err != nil {
		r.controlGone(err)
		return
	}
	if err := r.dispatch(&m, fds); err != nil {
		r.fail(&wire.Fault{Code: wire.CodeMalformed, Op: "hear from the sandbox", Path: m.Kind, Detail: err.Error()})
	}
}

// onEnd: the helper or the wrapper has ended. What was sent before still counts; a process that it left holds the channel open, so
// that the end of the channel may never come.
func (r *Run) onEnd() {
	r.loop.remove(r.launch.EndFD())
	for !r.loop.done && readable(r.launch.Control.FD()) {
		r.onControl()
	}
	if !r.loop.done {
		r.controlGone(&wire.Fault{Code: wire.CodePeerGone})
	}
}

// dispatch owns fds.
func (r *Run) dispatch(m *wire.ControlMessage, fds []int) error {
	switch {
	case m.Kind == wire.KindListeners && !r.listenersCame && r.command == nil && len(fds) == len(m.Listeners):
		r.listenersCame = true
		r.egress.hold(m.Listeners, fds)
		for _, fd := range fds {
			r.loop.add(fd, r.firstConnection)
		}
		return nil
	case m.Kind == wire.KindStarted && r.command == nil && len(fds) == 1:
		return r.onStarted(fds[0])
	}
	oneshot.CloseAll(fds)
	switch {
	case len(fds) > 0:
		return fmt.Errorf("%d descriptors that do not belong to it", len(fds))
	case m.Kind == wire.KindFault && m.Fault != nil && r.command == nil:
		r.fail(m.Fault)
	case m.Kind == wire.KindViolation && m.Violation != nil:
		if r.o.Hooks.Violation != nil {
			r.o.Hooks.Violation(*m.Violation)
		}
	case m.Kind == wire.KindStopped && m.Stopped != nil && r.command != nil:
		r.stopped(syscall.Signal(m.Stopped.Signal))
	case m.Kind == wire.KindReport:
		if r.o.Hooks.Report != nil {
			r.o.Hooks.Report(m.Report)
		}
	case m.Kind == wire.KindExit && m.Exit != nil && r.command != nil:
		r.out.Exit, r.exited, r.loop.done = *m.Exit, true, true
	default:
		return errors.New("the message does not belong here")
	}
	return nil
}

func (r *Run) onStarted(pidfd int) error {
	t, err := newTarget(pidfd)
	if err != nil {
		unix.Close(pidfd)
		return err
	}
	r.command, r.due, r.out.Started = t, time.Time{}, true
	if r.tty != nil && r.tty.whole {
		r.tty.give(t.leader())
	}
	return nil
}

// controlGone: the init has closed its end without KindExit, or broke the contract.
func (r *Run) controlGone(err error) {
	if !r.answered {
		r.onAnswer() // the helper's own word says more; it has ended, so this does not wait
		if r.out.Fault != nil {
			return
		}
	}
	f := oneshot.AsFault(err)
	if f.Code == wire.CodePeerGone {
		f = &wire.Fault{Code: wire.CodePeerGone, Op: "run the sandbox", Detail: "it ended before the command had started",
			Hint: "srt doctor says what this machine lacks"}
		if r.command != nil {
			f.Detail, f.Hint = "it ended without saying how the command did", ""
		}
	}
	r.fail(f)
}

// firstConnection starts proxyd. The connection waits in the listener's backlog.
func (r *Run) firstConnection() {
	for _, fd := range r.egress.fds {
		r.loop.remove(fd)
	}
	gone := func() { r.loop.post(r.proxyGone) }
	if err := r.egress.start(gone); err != nil {
		r.notice(err.Error() + ": " + noConnections)
	}
}

func (r *Run) proxyGone() {
	r.notice("proxyd ended: " + noConnections)
}

func (r *Run) notice(text string) {
	if r.o.Hooks.Notice != nil {
		r.o.Hooks.Notice(text)
	}
}

// finish leaves nothing: no process, no socket, and the terminal where it was.
func (r *Run) finish() {
	if !r.exited {
		r.launch.Kill()
	}
	close(r.ended)
	r.tty.take()
	r.egress.close()
	status := r.launch.Close(r.limits.end)
	if r.command != nil {
		r.command.close()
	}
	r.loop.close()
	if f := r.out.Fault; f != nil && f.Code == wire.CodePeerGone && !r.out.Started && status.Exited() && status.ExitStatus() != 0 {
		f.Detail += fmt.Sprintf(" (exit status %d)", status.ExitStatus())
	}
}
