//go:build linux || darwin

package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that srt hands on, and to whom.
var forwarded = [...]struct {
	signal syscall.Signal
	group  bool // to the command's process group, as a terminal does; else to its main process
}{
	{unix.SIGINT, true},
	{unix.SIGQUIT, true},
	{unix.SIGTSTP, true},
	{unix.SIGCONT, true},
	{unix.SIGWINCH, true},
	{unix.SIGTERM, false},
	{unix.SIGHUP, false},
	{unix.SIGUSR1, false},
	{unix.SIGUSR2, false},
}

// ignored is what signal.Ignored says before anything is asked of package signal, which changes it.
var ignored = func() (all []int) {
	if signal.Ignored(unix.SIGHUP) {
		all = append(all, int(unix.SIGHUP))
	}
	if signal.Ignored(unix.SIGINT) {
		all = append(all, int(unix.SIGINT), int(unix.SIGQUIT))
	}
	return all
}()

// IgnoredSignals are those that srt's caller had ignored (nohup, a background job of a shell without job control). The Go runtime
// keeps that for SIGHUP and SIGINT only; such a shell ignores SIGQUIT together with SIGINT. They are forwarded like the others: the
// command starts with them ignored, and may want them all the same.
func IgnoredSignals() []int { return append([]int{}, ignored...) }

// watchSignals posts every forwarded signal to the loop until stop is called. SIGPIPE is taken too, so that a message to a closed
// stderr cannot end srt and hide the command's status.
func (r *Run) watchSignals() (stop func()) {
	ch := make(chan os.Signal, 32)
	var wanted []os.Signal
	for _, f := range forwarded {
		wanted = append(wanted, f.signal)
	}
	if r.onChild != nil {
		wanted = append(wanted, unix.SIGCHLD)
	}
	pipe := make(chan os.Signal, 1)
	// The runtime talks to a thread of its own for each signal; from the locked main thread every word would take two more switches.
	watching := make(chan struct{})
	go func() {
		signal.Notify(ch, wanted...)
		signal.Notify(pipe, unix.SIGPIPE)
		close(watching)
		for s := range ch {
			if sig, ok := s.(syscall.Signal); ok {
				r.loop.post(func() { r.signaled(sig) })
			}
		}
	}()
	<-watching
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}

// signaled handles a signal that srt got.
func (r *Run) signaled(sig syscall.Signal) {
	if sig == unix.SIGCHLD {
		r.onChild()
		return
	}
	if r.command == nil {
		r.signaledEarly(sig)
		return
	}
	switch sig {
	case unix.SIGTSTP:
		r.askedToStop = true
	case unix.SIGCONT:
		r.askedToStop = false
		if r.tty != nil && !r.lent && (r.tty.whole || r.wantsTerminal) {
			r.tty.give(r.command.leader())
		}
	}
	for _, f := range forwarded {
		switch {
		case f.signal == sig && f.group:
			r.command.signalGroup(sig)
		case f.signal == sig:
			r.command.signalMain(sig)
		}
	}
}

// signaledEarly: no command yet, so srt does what the signal would do to any program.
func (r *Run) signaledEarly(sig syscall.Signal) {
	switch {
	case slices.Contains(ignored, int(sig)), sig == unix.SIGCONT, sig == unix.SIGWINCH: // the command may run already, before its init could say so
		r.early = append(r.early, sig)
	case sig == unix.SIGTSTP:
		stopSelf()
	default:
		r.out.Signal = int(sig)
		r.loop.done = true
	}
}

// stopped handles the news that the command's main process was stopped by sig.
func (r *Run) stopped(sig syscall.Signal) {
	if r.command == nil {
		return
	}
	if sig == unix.SIGTTIN || sig == unix.SIGTTOU {
		r.wantsTerminal = true
		if r.lent {
			return
		}
		if r.tty.give(r.command.leader()) {
			r.command.signalGroup(unix.SIGCONT)
			return
		}
	}
	asked := r.askedToStop
	r.askedToStop = false
	if !asked && !jobControlled() {
		// Nobody could continue srt. A stop from the keyboard is void then, as it is for an orphaned group.
		if sig == unix.SIGTSTP {
			r.command.signalGroup(unix.SIGCONT)
		}
		return
	}
	// The shell that sees srt stop takes the terminal; a parent without job control must find it with srt's own group, so that
	// the next Ctrl-C or Ctrl-Z reaches it.
	r.tty.take()
	stopSelf()
}

func stopSelf() { _ = unix.Kill(unix.Getpid(), unix.SIGSTOP) }
