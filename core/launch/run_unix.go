//go:build linux || darwin

package launch

import (
	"fmt"
	"runtime"
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
	way    way
	place  *Place
	tty    *terminal
	host   wire.HostContext

	due           time.Time     // when the next answer is overdue; zero: none is awaited
	command       target        // nil until it has started
	askedToStop   bool          // srt itself was told to stop
	early         []unix.Signal // came before the command was known to run; they end nothing
	wantsTerminal bool          // the command has shown that it uses the terminal
	lent          bool          // srt itself has the terminal for a question
	takeBack      bool          // the command had it before the question
	ended         chan struct{}
	onChild       func() // on SIGCHLD; nil: nobody waits for it
	egress        *egress
	exited        bool
	out           Outcome
}

// way is how a command gets into its sandbox and how its news come back.
type way interface {
	begin(r *Run) error                           // before the request is known
	request(r *Run, req wire.LaunchRequest) error // registers what the loop has to wait for
	kill()                                        // ends everything at once
	close(limit time.Duration) unix.WaitStatus    // waits, kills what is not gone within limit, frees everything
	explain(host wire.HostContext) *wire.Fault    // why the machine lets no sandbox start; nil: not known
}

// Begin starts what can start before the settings are read: on Linux the helper, whose start-up then costs no time. The caller must
// be the main goroutine, locked to its thread in an init function, and must call Wait or Cancel. The error is a *wire.Fault.
func Begin(o Options) (*Run, error) { return begin(o, ownWay()) }

func begin(o Options, w way) (*Run, error) {
	l, err := newLoop()
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "prepare to wait", Detail: err.Error()}
	}
	place, err := NewPlace(Terms{})
	if err != nil {
		l.close()
		return nil, err
	}
	r := &Run{o: o, limits: generous, loop: l, way: w, place: place, tty: findTerminal(), ended: make(chan struct{})}
	if err := w.begin(r); err != nil {
		_ = place.Close()
		l.close()
		return nil, err
	}
	return r, nil
}

// Place says, for the request, where the command finds its proxy and its temporary directory.
func (r *Run) Place(Terms) (*Place, error) { return r.place, nil }

// Terminal says, for the request, whether a controlling terminal is attached and whether the command starts in its foreground.
func (r *Run) Terminal() (attached, foreground bool) { return r.tty != nil, r.tty.foreground() }

// Cancel ends a run that was begun; nothing has been executed but the helper.
func (r *Run) Cancel() {
	r.way.kill()
	r.way.close(0)
	_ = r.place.Close()
	r.loop.close()
}

// Wait sends the request and stays until the command has ended and nothing of it is left. cfg is what proxyd gets when it is needed.
func (r *Run) Wait(req wire.LaunchRequest, cfg wire.ProxyConfig) Outcome {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r.tty != nil {
		r.tty.given = req.Command.Foreground // by the init, before it runs the command or fails to
	}
	r.host = req.Host
	r.egress = newEgress(r.o.Proxy, req.CommandID, cfg, &r.o.Hooks, func() { r.loop.post(r.refuseConnections) })
	err := r.holdOwnPort()
	if err == nil {
		err = r.way.request(r, req)
	}
	if err != nil {
		r.fail(err)
	} else {
		// Only now, while the helper works: before it a signal simply ends srt, and with it the helper.
		defer r.watchSignals()()
		if r.onChild != nil {
			r.onChild() // it may have ended before the watch began
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

// hold keeps the command's listeners until the first connection; fds are the run's from now on.
func (r *Run) hold(listeners []wire.Listener, fds []int) {
	r.egress.hold(listeners, fds)
	for _, fd := range fds {
		r.loop.add(fd, r.firstConnection)
	}
}

// started: the command runs.
func (r *Run) started(t target) {
	r.command, r.due, r.out.Started = t, time.Time{}, true
	if r.tty != nil && r.tty.whole {
		r.tty.give(t.leader())
	}
	for _, sig := range r.early {
		r.signaled(sig)
	}
}

// exit: the command has ended.
func (r *Run) exit(e wire.Exit) { r.out.Exit, r.exited, r.loop.done = e, true, true }

func (r *Run) planned(plan wire.LaunchPlan) {
	if r.o.Hooks.Plan != nil {
		r.o.Hooks.Plan(plan)
	}
}

func (r *Run) violation(v wire.Violation) {
	if r.o.Hooks.Violation != nil {
		r.o.Hooks.Violation(v)
	}
}

// holdOwnPort gives the egress a copy of the listener that srt opened itself.
func (r *Run) holdOwnPort() error {
	if r.place.listener < 0 {
		return nil
	}
	fd, err := unix.FcntlInt(uintptr(r.place.listener), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return &wire.Fault{Code: wire.CodeInternal, Op: "copy a listener", Detail: err.Error()}
	}
	r.hold([]wire.Listener{{Role: wire.RoleProxy}}, []int{fd})
	return nil
}

// refuseConnections: proxyd does not serve the port that srt opened, and never will. Connections are ended at once.
func (r *Run) refuseConnections() {
	fd := r.place.listener
	if fd < 0 || unix.SetNonblock(fd, true) != nil {
		return
	}
	r.loop.remove(fd)
	r.loop.add(fd, func() {
		if conn, _, err := unix.Accept(fd); err == nil {
			unix.Close(conn)
		}
	})
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
		r.way.kill()
	}
	close(r.ended)
	r.tty.take()
	r.egress.close(r.limits.end)
	status := r.way.close(r.limits.end)
	if r.command != nil {
		r.command.close()
	}
	r.loop.close()
	if err := r.place.Close(); err != nil {
		r.notice("remove the temporary directory: " + err.Error())
	}
	if f := r.out.Fault; f != nil && f.Code == wire.CodePeerGone && !r.out.Started && status.Exited() && status.ExitStatus() != 0 {
		f.Detail += fmt.Sprintf(" (exit status %d)", status.ExitStatus())
		if why := r.way.explain(r.host); why != nil {
			r.out.Fault = why
		}
	}
}
