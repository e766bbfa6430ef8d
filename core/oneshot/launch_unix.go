//go:build linux || darwin

package oneshot

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// LaunchOptions say what the process that becomes the sandbox inherits.
type LaunchOptions struct {
	Terminal bool        // stay in the session of the controlling terminal
	PassFDs  map[int]int // user's descriptor number → our descriptor; the child gets it as number + wire.PassOffset
}

// Launch is a helper under verb launch: first it answers, then it is the sandbox itself.
type Launch struct {
	Pid     int
	Control *Channel // srt's end of the channel of wire/control.go

	peer *peer
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
	// With a terminal the wrappers stay in its session, in a group of their own: they get no signal from the keyboard.
	attr := &syscall.SysProcAttr{Setsid: !o.Terminal, Setpgid: o.Terminal}
	p, err := h.start(VerbLaunch, []int{0, 1, 2}, extra, attr)
	if err != nil {
		unix.Close(ours)
		return nil, err
	}
	return &Launch{Pid: p.pid, Control: NewChannel(ours, wire.MaxControlMessage), peer: p}, nil
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

// Kill ends the sandbox at once.
func (l *Launch) Kill() { unix.Kill(l.Pid, unix.SIGKILL) }

// Close ends the sandbox when it still runs (the init sees the end of its channel), waits for its last process that belongs to
// srt, kills that one when it is not gone within limit, and frees everything.
func (l *Launch) Close(limit time.Duration) unix.WaitStatus {
	l.peer.conn.Close()
	l.Control.Shutdown()
	l.Control.Close()
	if !ended(l.Pid, limit) {
		l.Kill()
	}
	return reap(l.Pid)
}
