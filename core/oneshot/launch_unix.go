//go:build linux || darwin

package oneshot

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
)

// LaunchOptions say what the process that becomes the sandbox inherits.
type LaunchOptions struct {
	Terminal bool        // stay in the session of the controlling terminal
	PassFDs  map[int]int // user's descriptor number → our descriptor; the child gets it as number + wire.PassOffset
	// Enter is a command line that starts the helper inside its sandbox's namespaces (entry.Direct), with one more argument, an
	// entry.Thread; nil: the helper itself, under verb launch.
	Enter []string
}

// Launch is a helper under verb launch: first it answers, then it is the sandbox itself.
type Launch struct {
	Pid     int
	Control *Channel // srt's end of the channel of wire/control.go

	peer  *peer
	watch *watch
}

// Start starts the helper for one command, before the request is ready, so that its start-up costs no time. The caller must be
// locked to the main thread, and must call Answer, Kill or Reap.
func (h *Helper) Start(o LaunchOptions) (*Launch, error) {
	ours, theirs, err := Pair()
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "make a channel", Detail: err.Error()}
	}
	defer unix.Close(theirs)
	extra := map[int]int{ControlFD: theirs}
	for n, fd := range o.PassFDs {
		extra[n+wire.PassOffset] = fd
	}
	// The process leads a group of its own: with a terminal it stays in the session, and gets no signal from the keyboard.
	//
	// It is not killed when srt dies. bwrap's child waits for its parent before it watches over it, and would stay for ever when
	// the parent died between; so the chain goes on until the init finds the channel closed.
	attr := &syscall.SysProcAttr{Setsid: !o.Terminal, Setpgid: o.Terminal}
	w := newWatch(attr)
	p, err := h.startLaunch(o.Enter, extra, attr)
	if err != nil {
		unix.Close(ours)
		return nil, err
	}
	w.started(p.pid)
	return &Launch{Pid: p.pid, Control: NewChannel(ours, wire.MaxControlMessage), peer: p, watch: w}, nil
}

// startLaunch starts the helper under verb launch, or enters.
func (h *Helper) startLaunch(enter []string, extra map[int]int, attr *syscall.SysProcAttr) (*peer, error) {
	stdio := []int{0, 1, 2}
	if enter == nil {
		return h.start([]string{h.Path, VerbLaunch}, childEnv(), stdio, extra, attr)
	}
	was, restore, err := chainThread()
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "prepare the thread that starts the sandbox", Detail: err.Error()}
	}
	defer restore()
	return h.start(append(slices.Clone(enter), was.String()), entry.Env, stdio, extra, attr)
}

// StartWatch starts verb watch (wire.VerbWatch) and sends its request. What it reports comes on Control.
func (h *Helper) StartWatch(req wire.WatchRequest) (*Launch, error) {
	return h.startBeside(wire.VerbWatch, req)
}

// StartGuard starts verb guard (wire.VerbGuard) and sends its request. It listens to Control when Ready says so.
func (h *Helper) StartGuard(req wire.GuardRequest) (*Launch, error) {
	return h.startBeside(wire.VerbGuard, req)
}

// startBeside starts a verb that stays beside the command, in a session of its own.
func (h *Helper) startBeside(verb string, req any) (*Launch, error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "open", Path: "/dev/null", Detail: err.Error()}
	}
	defer unix.Close(null)
	ours, theirs, err := Pair()
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "make a channel", Detail: err.Error()}
	}
	defer unix.Close(theirs)
	attr := &syscall.SysProcAttr{Setsid: true}
	w := newWatch(attr)
	p, err := h.start([]string{h.Path, verb}, childEnv(), []int{null, null, 2}, map[int]int{ControlFD: theirs}, attr)
	if err != nil {
		unix.Close(ours)
		return nil, err
	}
	w.started(p.pid)
	l := &Launch{Pid: p.pid, Control: NewChannel(ours, wire.MaxControlMessage), peer: p, watch: w}
	if err := p.send(req); err != nil {
		l.Kill()
		l.Close(0)
		return nil, err
	}
	return l, nil
}

// Send sends the request.
func (l *Launch) Send(req wire.LaunchRequest) error { return l.peer.send(req) }

// AnswerFD is readable when Answer will not wait.
func (l *Launch) AnswerFD() int { return l.peer.conn.fd }

// Answer waits for the plan, or gives the Fault that came instead of it.
func (l *Launch) Answer() (wire.LaunchPlan, error) {
	var plan wire.LaunchPlan
	return plan, l.peer.answer(&plan)
}

// Ready waits for the answer of StartWatch or StartGuard, or gives the Fault that came instead of it.
func (l *Launch) Ready() error {
	var d wire.Description
	return l.peer.answer(&d)
}

// EndFD is readable when the process that Start started has ended; -1 when that cannot be watched.
func (l *Launch) EndFD() int { return l.watch.fd }

// Kill ends the helper, or the wrappers of the sandbox, at once.
func (l *Launch) Kill() { killGroup(l.Pid) }

// Close ends the sandbox when it still runs (the init sees the end of its channel), waits for the process that Start started, kills
// it when it is not gone within limit, and frees everything.
func (l *Launch) Close(limit time.Duration) unix.WaitStatus {
	l.peer.conn.Close()
	l.Control.Shutdown()
	l.Control.Close()
	l.watch.wait(limit)
	l.Kill() // also what a wrapper may have left behind
	l.watch.close()
	return reap(l.Pid)
}
