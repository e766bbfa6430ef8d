//go:build linux || darwin

package launch

import (
	"context"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// direct is the way on macOS: the helper gives a plan, and srt executes it itself. The command is srt's own child.
type direct struct {
	helper  *oneshot.Helper
	guard   *oneshot.Launch // kills what is left of the command when srt is gone
	watcher *oneshot.Launch // reads the system's log for denials; nil when nobody wants to know
	command *childTarget
	status  unix.WaitStatus
}

func (d *direct) begin(r *Run) error {
	d.helper = &oneshot.Helper{Path: r.o.Helper}
	return nil
}

func (d *direct) request(r *Run, req wire.LaunchRequest) error {
	d.helper.Limit = r.limits.answer
	if r.o.WatchLog {
		d.startWatcher(r, req.Host.SessionID)
	}
	var err error
	if d.guard, err = d.helper.StartGuard(wire.GuardRequest{Version: wire.Version, TmpDir: r.place.TmpDir}); err != nil {
		return err
	}
	plan, err := d.helper.Prepare(context.Background(), req)
	if err == nil {
		err = d.guard.Ready()
	}
	if err != nil {
		return err
	}
	r.planned(plan)
	files, err := d.files(r, plan)
	if err != nil {
		return err
	}
	attr := &syscall.SysProcAttr{Setsid: plan.NewSession, Setpgid: !plan.NewSession}
	if req.Command.Foreground && !plan.NewSession {
		attr.Foreground, attr.Ctty = true, r.tty.fd
	}
	pid, err := syscall.ForkExec(plan.Argv[0], plan.Argv, &syscall.ProcAttr{Dir: plan.Dir, Env: plan.Env, Files: files, Sys: attr})
	if err != nil {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "execute", Path: plan.Argv[0], Detail: err.Error()}
	}
	d.command = &childTarget{pid: pid}
	if err := d.guard.Control.Send(wire.GuardMessage{Version: wire.Version, Pid: pid}); err != nil {
		return err
	}
	d.watchGuard(r)
	r.started(d.command)
	r.onChild = func() { d.news(r) }
	return nil
}

// files are the descriptors that the plan wants the command to inherit.
func (d *direct) files(r *Run, plan wire.LaunchPlan) ([]uintptr, error) {
	files := []uintptr{0, 1, 2}
	for _, desc := range plan.Descriptors {
		ours, ok := r.o.PassFDs[desc.Number]
		if desc.Kind != wire.FDPass || !ok || slices.Contains([]int{0, 1, 2}, desc.Number) {
			return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "execute the plan", Path: desc.Kind, Detail: "it wants a descriptor that nobody has"}
		}
		for len(files) <= desc.Number {
			files = append(files, ^uintptr(0))
		}
		files[desc.Number] = uintptr(ours)
	}
	if len(plan.Argv) == 0 {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "execute the plan", Detail: "it is empty"}
	}
	return files, nil
}

// sweepLimit bounds how long the guard may take: ended in the middle, it would leave processes stopped instead of killed.
const sweepLimit = 20 * time.Second

// news asks what became of the command.
func (d *direct) news(r *Run) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(d.command.pid, &status, unix.WNOHANG|unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR: //nolint:errorlint // a bare errno
			continue
		case err != nil || pid == 0:
			return
		case status.Stopped():
			r.stopped(status.StopSignal())
			continue
		case status.Signaled():
			r.exit(wire.Exit{Signal: int(status.Signal())})
		case status.Exited():
			r.exit(wire.Exit{Code: status.ExitStatus()})
		default:
			continue
		}
		d.status, d.command.reaped = status, true
		_ = unix.Kill(-d.command.pid, unix.SIGKILL) // what it left in its group; the number cannot be another's so soon
		return
	}
}

// watchGuard tells when the guard ends before srt does. The sandbox does not depend on it.
func (d *direct) watchGuard(r *Run) {
	fd := d.guard.Control.FD()
	r.loop.add(fd, func() {
		r.loop.remove(fd)
		r.notice("the guard has ended: if srt is killed, the command goes on")
	})
}

// startWatcher starts the helper's verb watch. Without it denials are enforced all the same; so it is not waited for.
func (d *direct) startWatcher(r *Run, sessionID string) {
	w, err := d.helper.StartWatch(wire.WatchRequest{Version: wire.Version, SessionID: sessionID})
	if err != nil {
		r.notice("denials are not listed: " + err.Error())
		return
	}
	d.watcher = w
	r.loop.add(w.Control.FD(), func() {
		var m wire.ControlMessage
		fds, err := w.Control.Recv(&m)
		oneshot.CloseAll(fds)
		switch {
		case err != nil:
			r.loop.remove(w.Control.FD())
			r.notice("further denials are not listed: the reader of the system's log has ended")
		case m.Kind == wire.KindViolation && m.Violation != nil:
			r.violation(*m.Violation)
		}
	})
}

func (d *direct) kill() {
	if d.command != nil {
		d.command.signalGroup(unix.SIGKILL)
		d.command.signalMain(unix.SIGKILL)
	}
}

func (d *direct) explain(wire.HostContext) *wire.Fault { return nil }

func (d *direct) close(limit time.Duration) unix.WaitStatus {
	if d.guard != nil {
		if d.command != nil {
			limit = max(limit, sweepLimit)
		}
		d.guard.Close(limit) // it sweeps what has left the command's process group
	}
	if d.watcher != nil {
		d.watcher.Kill()
		d.watcher.Close(limit)
	}
	if d.command != nil && !d.command.reaped {
		for {
			if _, err := unix.Wait4(d.command.pid, &d.status, 0, nil); err != unix.EINTR { //nolint:errorlint // a bare errno
				break
			}
		}
		d.command.reaped = true
	}
	return d.status
}

// childTarget is a command that srt started itself: its number is its own until srt reaps it.
type childTarget struct {
	pid    int
	reaped bool
}

func (c *childTarget) leader() int { return c.pid }

func (c *childTarget) signalMain(sig unix.Signal) {
	if !c.reaped {
		_ = unix.Kill(c.pid, sig)
	}
}

func (c *childTarget) signalGroup(sig unix.Signal) {
	if !c.reaped {
		_ = unix.Kill(-c.pid, sig)
	}
}

func (c *childTarget) close() {}
