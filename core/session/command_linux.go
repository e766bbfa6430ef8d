package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/pidfd"
	"github.com/srt-dev/srt/core/wire"
)

// Bounds of what a sandbox may take. They are there for one that hangs, not for a slow machine.
const (
	startLimit = 60 * time.Second // from the start of the wrapper to that of the command
	endLimit   = 2 * time.Second  // from the end of the command to that of its wrapper, and the other way round
)

// Supported says why sessions cannot run commands on this operating system; here they can.
func Supported() error { return nil }

// Command is one command of a session, from its plan to its end. Every method may be called from everywhere at once.
type Command struct {
	s     *Session
	id    string
	plan  wire.LaunchPlan
	files []*os.File // what the wrapper inherits from descriptor 3 on; nil where nothing
	own   []*os.File // those of files that are ours to close
	ctl   *control
	lists func() *wire.NetLists

	assigning sync.Mutex // held while proxyd is told about lists
	attached  bool       // proxyd has the listeners

	started chan struct{} // closed when the command runs, or never will
	ended   chan struct{} // closed when the init has said its last word
	workers sync.WaitGroup
	finish  sync.Once
	err     error // of Finish

	mu      sync.Mutex
	kill    func() // the wrapper; nil when somebody else started it
	target  *pidfd.Process
	exit    *wire.Exit
	fault   *wire.Fault // why srt itself failed
	report  []string
	stopped bool
	late    *time.Timer // kills a wrapper that stays
}

// Prepare asks the helper for a plan and gets ready for it. lists gives
// the command's own network lists, nil for none, whenever proxyd has to know them (see Relist); pass are the files for
// request.Command.PassFDs, by number, and stay the caller's. The caller must call Finish. The error is a *wire.Fault.
func (s *Session) Prepare(ctx context.Context, request wire.LaunchRequest, lists func() *wire.NetLists, pass map[int]*os.File) (_ *Command, err error) {
	s.mu.Lock()
	if err := s.err(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.using.Add(1) // given back here on failure, else by Finish
	s.mu.Unlock()
	c := &Command{s: s, id: request.CommandID, lists: lists, started: make(chan struct{}), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			c.closeFiles()
			if c.ctl != nil {
				c.ctl.close()
			}
			s.using.Done()
		}
	}()
	if c.plan, err = s.helper.Prepare(ctx, request); err != nil {
		if f, ok := errors.AsType[*wire.Fault](err); ok && f.Code == wire.CodePeerGone && ctx.Err() == nil {
			s.fail(f) // it hangs, or it ended: neither gets better
		}
		return nil, err
	}
	if err := c.open(pass); err != nil {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "follow the plan of", Path: s.o.Helper, Detail: err.Error()}
	}
	s.mu.Lock()
	if err := s.err(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.running[c] = struct{}{}
	s.mu.Unlock()
	go c.listen()
	return c, nil
}

// open makes the descriptors of the plan.
func (c *Command) open(pass map[int]*os.File) (err error) {
	if len(c.plan.Argv) == 0 || !filepath.IsAbs(c.plan.Argv[0]) {
		return fmt.Errorf("it names no program")
	}
	for _, d := range c.plan.Descriptors {
		if d.Number < 3 || d.Number > wire.PassOffset+wire.MaxPassFD {
			return fmt.Errorf("descriptor %d is out of range", d.Number)
		}
		for len(c.files) <= d.Number-3 {
			c.files = append(c.files, nil)
		}
		if c.files[d.Number-3] != nil {
			return fmt.Errorf("descriptor %d comes twice", d.Number)
		}
		var f *os.File
		switch d.Kind {
		case wire.FDData:
			f, err = oneshot.SealedFile(d.Data)
			c.own = append(c.own, f)
		case wire.FDControl:
			if c.ctl != nil {
				return fmt.Errorf("there are two control channels")
			}
			c.ctl, f, err = newControl()
			c.own = append(c.own, f)
		case wire.FDPass:
			if f = pass[d.Number-wire.PassOffset]; f == nil {
				return fmt.Errorf("descriptor %d was not asked for", d.Number)
			}
		default:
			return fmt.Errorf("descriptor %d is of the unknown kind %q", d.Number, d.Kind)
		}
		if err != nil {
			return err
		}
		c.files[d.Number-3] = f
	}
	if c.ctl == nil {
		return fmt.Errorf("there is no control channel")
	}
	return nil
}

// Plan is what the helper answered.
func (c *Command) Plan() wire.LaunchPlan { return c.plan }

// Files are what the wrapper has to inherit from descriptor 3 on, nil where nothing. They are closed by Start and by Finish.
func (c *Command) Files() []*os.File { return append([]*os.File{}, c.files...) }

// Start starts the plan's wrapper in x, which has its streams set, and waits until the command runs. After an error nothing runs, and
// Finish must be called all the same. x.Wait is the caller's.
func (c *Command) Start(ctx context.Context, x *exec.Cmd) error {
	x.Path, x.Args, x.Env, x.Dir, x.ExtraFiles = c.plan.Argv[0], c.plan.Argv, c.plan.Env, c.plan.Dir, c.files
	x.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	c.ctl.due(time.Now().Add(startLimit))
	var err error
	c.s.thread.do(func() { err = x.Start() })
	if err != nil { // noted before the init's end is closed, which would be a reason too
		c.fail(&wire.Fault{Code: wire.CodeUnsupported, Op: "start", Path: x.Path, Detail: err.Error()})
	}
	c.closeFiles()
	if err != nil {
		return c.Fault()
	}
	if err := c.sweepAfter(x.Process.Pid); err != nil {
		_ = x.Process.Kill()
		c.fail(&wire.Fault{Code: wire.CodeUnsupported, Op: "watch", Path: x.Path, Detail: err.Error()})
		return c.Fault()
	}
	c.mu.Lock()
	c.kill = func() { _ = x.Process.Kill() }
	if c.stopped {
		c.killLater()
	}
	c.mu.Unlock()
	select {
	case <-c.started:
	case <-ctx.Done():
		c.Stop()
		<-c.started
	}
	if f := c.Fault(); f != nil {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "run the sandbox", Detail: "it was ended before the command had started"}
	}
	return nil
}

// Started is closed when the command runs, or never will.
func (c *Command) Started() <-chan struct{} { return c.started }

// Ended is closed when the sandbox has said its last word.
func (c *Command) Ended() <-chan struct{} { return c.ended }

// Pid is the process id of the command's main process, 0 before it runs.
func (c *Command) Pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil {
		return 0
	}
	return c.target.Pid()
}

// Exit is how the command ended; false when that is not known.
func (c *Command) Exit() (wire.Exit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exit == nil {
		return wire.Exit{}, false
	}
	return *c.exit, true
}

// Fault is why srt itself failed, nil when it did not.
func (c *Command) Fault() *wire.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// Report says what the command left that could run later; after Ended.
func (c *Command) Report() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report
}

// Signal sends sig to the command's main process, or to the process group that it leads. os.ErrProcessDone when it does not run.
func (c *Command) Signal(sig syscall.Signal, group bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil || c.exit != nil {
		return os.ErrProcessDone
	}
	send := c.target.Signal
	if group {
		send = c.target.SignalGroup
	}
	err := send(sig)
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// Stop ends the whole tree of the command at once.
func (c *Command) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

func (c *Command) stop() {
	if c.stopped {
		return
	}
	c.stopped = true
	c.ctl.shutdown() // the init ends, and the kernel with it everything inside, before the wrapper ends
	c.killLater()
}

// killLater ends a wrapper that stays when its sandbox is over.
func (c *Command) killLater() {
	if c.kill != nil && c.late == nil {
		c.late = time.AfterFunc(endLimit, c.kill)
	}
}

// fail notes why srt failed, the first reason counts, and ends the command.
func (c *Command) fail(f *wire.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil && c.exit == nil {
		c.fault = f
	}
	c.stop()
}

// Finish frees what belongs to the command; its wrapper must have ended or never been started. It returns when every event of the
// command has been told. The error is why srt failed, or why the session is broken: then the command may have missed its network.
func (c *Command) Finish() error {
	c.finish.Do(func() {
		c.closeFiles()
		select {
		case <-c.ended:
		case <-time.After(endLimit): // somebody holds the init's end
			c.Stop()
			<-c.ended
		}
		c.workers.Wait()
		c.mu.Lock()
		c.stopped = true
		c.ctl.close()
		if c.late != nil {
			c.late.Stop()
		}
		if c.target != nil {
			if c.exit == nil {
				c.target.Gone(endLimit)
			}
			c.target.Close()
			c.target = nil
		}
		if c.fault != nil {
			c.err = c.fault
		}
		c.mu.Unlock()
		c.s.mu.Lock()
		delete(c.s.running, c)
		if c.err == nil && c.s.broken != nil {
			c.err = c.s.broken
		}
		c.s.mu.Unlock()
		c.s.using.Done()
	})
	return c.err
}

// closeFiles closes our copies of what the wrapper inherits, so that the end of the init can be seen.
func (c *Command) closeFiles() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.own {
		if f != nil {
			f.Close()
		}
	}
	c.own = nil
}

// attach hands the command's listeners to proxyd.
func (c *Command) attach(listeners []wire.Listener, fds []int) {
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "listener")
	}
	attached := make(chan error, 1)
	c.workers.Go(func() {
		c.assigning.Lock()
		err := c.s.proxy.Attach(c.s.ctx, wire.Attach{CommandID: c.id, Listeners: listeners, Lists: c.lists()}, files)
		c.attached = err == nil
		c.assigning.Unlock()
		if f, ok := errors.AsType[*wire.Fault](err); ok && f.Code != wire.CodePeerGone {
			c.fail(f) // else proxyd is gone: connections fail, and the session knows
		}
		attached <- err
	})
	c.workers.Go(func() {
		err := <-attached
		<-c.ended
		if err == nil {
			_ = c.s.proxy.Detach(c.s.ctx, c.id) // proxyd is gone: so are the connections
			c.s.told.wait(c.s.proxy.Queued())
		}
	})
}
