package initd

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/fileplan"
	"github.com/srt-dev/srt/helpers/srt-linux/mounts"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp"
	"github.com/srt-dev/srt/helpers/srt-linux/supervise"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// statusUnsafe ends the sandbox when a protection ended before the command did.
const statusUnsafe = statusFailed

// lastWords is how long the end of a run waits for the supervisor to tell what it refused last.
const lastWords = time.Second

// filter gives the system call filter for the command, with or without a supervisor that answers for it.
func (i *initd) filter(supervised bool) ([]unix.SockFilter, error) {
	p, err := seccomp.Program(seccomp.Options{
		Supervised:                supervised,
		Explain:                   supervised && i.cfg.Explain,
		AllowNestedUserNamespaces: i.cfg.Process.AllowNestedUserNamespaces,
		AllowAllUnixSockets:       i.cfg.Process.AllowAllUnixSockets,
	})
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeUnsupported, Op: "choose the system call filter", Detail: err.Error()}
	}
	return p, nil
}

// prepared is a supervisor that only lacks its listener.
type prepared struct {
	supervisor *supervise.Supervisor
	err        error
}

// compile makes the supervisor's rules while the mounts are made, and the supervisor while the nested namespaces come up: thousands of
// them take milliseconds. It waits in between until i.stands is closed, when the view stands.
func (i *initd) compile() {
	i.stands, i.prepared = make(chan struct{}), make(chan prepared, 1)
	go func() {
		rules, err := supervise.Compile(i.cfg.View.Names)
		<-i.stands
		var s *supervise.Supervisor
		if err == nil {
			s, err = i.prepare(rules)
		}
		i.prepared <- prepared{s, err}
	}()
}

func (i *initd) prepare(rules *supervise.Rules) (*supervise.Supervisor, error) {
	cfg := supervise.Config{
		Proc:            i.proc,
		Rules:           rules,
		Private:         []string{wire.LinuxTmpDir, "/dev/shm"},
		ReadOnly:        i.cfg.View.ReadOnly,
		Hide:            i.cfg.View.Hide,
		AllowSockets:    i.cfg.Process.AllowUnixSockets,
		AllowAllSockets: i.cfg.Process.AllowAllUnixSockets,
		CreateOnce:      i.createOnce(),
		Explain:         i.cfg.Explain,
		// Paths of a caller in a mount namespace of its own say nothing.
		NestedNamespaces: i.cfg.Process.AllowNestedUserNamespaces,
		SamePIDs:         i.cfg.ByBwrap,
		CallName:         seccomp.CallName,
		Report:           i.report,
	}
	if i.cfg.Audit {
		cfg.Audit = i.audit
	}
	return supervise.New(cfg)
}

// supervise starts what protects the command while it runs: the supervisor on its listener, and the guard over protected files.
func (i *initd) supervise(listener int) error {
	i.supervised = make(chan struct{})
	if i.applied.Guarded() {
		go i.guard()
	}
	if i.foreign != nil {
		go i.watchMounts()
	}
	if listener < 0 { // enableWeakerNestedSandbox, where no supervisor can run
		close(i.supervised)
		return nil
	}
	i.unwatched = nil
	p := <-i.prepared
	if p.err != nil {
		return p.err
	}
	i.supervisor = p.supervisor
	go func() {
		if err := p.supervisor.Serve(listener); err != nil {
			i.fault(err)
			os.Exit(statusUnsafe)
		}
		close(i.supervised)
	}()
	return nil
}

func (i *initd) guard() {
	runtime.LockOSThread()
	i.fault(i.applied.Guard())
	os.Exit(statusUnsafe)
}

// watchMounts is guard where bubblewrap made the mounts: nothing can be covered again, only told.
func (i *initd) watchMounts() {
	runtime.LockOSThread()
	i.fault(i.foreign.Watch(i.proc, func(t view.Target) {
		i.tell([]string{fmt.Sprintf("%q: replaced or removed outside while this command ran; %q did not hold for it any more", t.Path, t.Rule)})
	}))
	os.Exit(statusUnsafe)
}

// createOnce lets the supervisor make allowWrite paths that do not exist yet. The mounts are made by a thread that has the capability.
func (i *initd) createOnce() []supervise.CreateOnceTarget {
	type job struct {
		path string
		done chan error
	}
	if len(i.applied.CreateOnce) == 0 {
		return nil
	}
	jobs := make(chan job)
	go func() {
		runtime.LockOSThread()
		for j := range jobs {
			j.done <- mounts.Reveal(j.path)
		}
	}()
	var targets []supervise.CreateOnceTarget
	for n, t := range i.cfg.View.CreateOnce {
		targets = append(targets, supervise.CreateOnceTarget{Path: t.Path, Parent: i.applied.CreateOnce[n], Created: func(bool) error {
			j := job{t.Path, make(chan error)}
			jobs <- j
			return <-j.done
		}})
	}
	return targets
}

// report passes one refusal on to srt.
func (i *initd) report(v wire.Violation) {
	v.CommandID = i.cfg.CommandID
	_ = i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindViolation, Violation: &v}) // srt is gone: so are we, soon
}

// audit passes one permission on to srt.
func (i *initd) audit(d wire.Decision) {
	d.CommandID = i.cfg.CommandID
	_ = i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindAllowed, Allowed: &d}) // srt is gone: so are we, soon
}

// lastReports waits until everything that the supervisor refused has been told, and says whether it was.
func (i *initd) lastReports() bool {
	select {
	case <-i.supervised:
		return true // without a timer
	default:
	}
	select {
	case <-i.supervised:
		return true
	case <-time.After(lastWords):
		return false
	}
}

// leftovers tells what the command left that something could run later. All that could be found was made through the supervisor: told
// says that it saw everything.
func (i *initd) leftovers(told bool) {
	if told && i.supervisor != nil && !i.supervisor.MayHaveLeft() {
		return
	}
	lines := fileplan.Leftovers(&i.cfg.View)
	if i.unwatched != nil {
		lines = append(lines, i.unwatched.Broken()...)
	}
	if len(lines) > 0 {
		i.tell(lines)
	}
}

// tell says what srt tells the user when the command has ended.
func (i *initd) tell(lines []string) {
	_ = i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindReport, Report: lines})
}
