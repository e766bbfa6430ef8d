package initd

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/fileplan"
	"github.com/srt-dev/srt/helpers/srt-linux/mounts"
	"github.com/srt-dev/srt/helpers/srt-linux/nofile"
	"github.com/srt-dev/srt/helpers/srt-linux/supervise"
	"golang.org/x/sys/unix"
)

// statusFailed is srt's own failure (see the exit status table of cmd/srt).
const statusFailed = 125

// Main is PID 1 of a sandbox: configure gives what it has to do, controlFD is the channel to srt. The command starts with
// this thread; nil: with that of the init. It returns the status to exit with, when the command
// has ended and everything inside with it. The calling thread must be the locked main thread.
func Main(configure func() (*Config, error), thread *entry.Thread, controlFD int) int {
	if err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return statusFailed
	}
	hideName()
	i := &initd{channel: oneshot.NewChannel(controlFD, wire.MaxControlMessage), thread: thread}
	status, err := i.run(configure)
	if err != nil {
		i.fault(err)
		return statusFailed
	}
	return status
}

type initd struct {
	channel    *oneshot.Channel
	cfg        *Config
	thread     *entry.Thread
	proc       int // O_PATH descriptor of the outer PID namespace's /proc
	applied    *mounts.Applied
	foreign    *mounts.Foreign // the mounts that bubblewrap made; nil when the init made them
	nest       *nest
	child      int           // what nest.fork started
	stands     chan struct{} // closed when the view stands
	prepared   chan prepared
	supervisor *supervise.Supervisor
	supervised chan struct{}       // closed when the supervisor has nobody left to answer
	cursors    []cursor            // of the streams that were opened again
	unwatched  *fileplan.Unwatched // what to look at afterwards; nil with a supervisor
}

func (i *initd) fault(err error) {
	_ = i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindFault, Fault: oneshot.AsFault(err)})
}

func (i *initd) run(configure func() (*Config, error)) (int, error) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // out of reach of ptrace and /proc/PID/mem
		return 0, err
	}
	var err error
	if i.cfg, err = configure(); err != nil {
		return 0, err
	}
	if i.cfg.ByBwrap { // wait4 cannot watch the channel too
		go func() { i.await(-1) }()
	}
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil && !errors.Is(err, unix.ENOSYS) {
		return 0, &wire.Fault{Code: wire.CodeUnsupported, Op: "join a new session keyring", Detail: err.Error()}
	}
	if i.proc, err = openProc(i.cfg.SharedProc); err != nil {
		return 0, err
	}
	if !i.cfg.SharedProc {
		i.compile()
	}
	if err := i.view(); err != nil {
		return 0, err
	}
	if err := handOut(i.channel, i.cfg.Network); err != nil {
		return 0, err
	}
	path, err := lookup(i.cfg.Command.Argv[0], i.cfg.Command.Env)
	if err != nil {
		return 0, err
	}
	if !i.cfg.SharedProc {
		close(i.stands)
	}
	if i.cfg.Process.WeakerNested {
		i.unwatched = fileplan.NotePresent(&i.cfg.View)
	}
	if err := i.startNested(path); err != nil {
		return 0, err
	}
	if err := i.started(path); err != nil {
		return 0, err
	}
	return i.wait()
}

// openProc opens /proc as it is before the mounts are made. A shared one becomes read-only in them, so this is a copy that is not attached:
// the nested namespace writes its id maps there.
func openProc(shared bool) (int, error) {
	if !shared {
		return unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	return unix.OpenTree(unix.AT_FDCWD, "/proc", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
}

// await returns when fd can be read. When srt's end of the channel closes before, it ends the sandbox: PID 1 takes its namespace along.
// (srt sends nothing.) Every wait of the init goes through here, but for what the kernel does at once.
func (i *initd) await(fd int) {
	p := []unix.PollFd{{Fd: int32(i.channel.FD())}, {Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(p, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || n > 0 && p[0].Revents != 0:
			os.Exit(statusFailed)
		default:
			return
		}
	}
}

// hear waits for the next word of the nested init.
func (i *initd) hear() (note, error) {
	i.await(i.nest.sock[0])
	return i.nest.hear()
}

// view makes the mounts and opens again, in them, the streams that could lead around them.
func (i *initd) view() error {
	streams, err := checkStreams()
	if err != nil {
		return err
	}
	terminal := ""
	if _, err := unix.IoctlGetTermios(0, unix.TCGETS); err == nil {
		terminal, _ = os.Readlink("/proc/self/fd/0")
	}
	if i.cfg.ByBwrap {
		i.applied = new(mounts.Applied)
		if i.foreign, err = mounts.Check(&i.cfg.View, i.cfg.Identities); err != nil {
			return err
		}
		return i.reopenAll(streams)
	}
	umask := unix.Umask(0)
	i.applied, err = mounts.Apply(&i.cfg.View, mounts.Options{Self: i.cfg.Self, Terminal: terminal})
	unix.Umask(umask)
	if err != nil {
		return err
	}
	return i.reopenAll(streams)
}

func (i *initd) reopenAll(streams []stream) error {
	for _, s := range streams {
		c, err := s.reopen()
		if err != nil {
			return err
		}
		i.cursors = append(i.cursors, c)
	}
	return nil
}

// startNested brings the nested namespaces up to the point where the command is being executed.
func (i *initd) startNested(path string) error {
	var err error
	var filter, weaker []unix.SockFilter
	if !i.cfg.SharedProc {
		if filter, err = i.filter(true); err != nil {
			return err
		}
	}
	if i.cfg.Process.WeakerNested {
		if weaker, err = i.filter(false); err != nil {
			return err
		}
	}
	c := &i.cfg.Command
	if i.nest, err = newNest(path, i.cfg, i.proc, filter, weaker); err != nil {
		if errors.Is(err, unix.EINVAL) && nofile.Known && nofile.Hard <= highFD+1 {
			return &wire.Fault{Code: wire.CodeUnsupported, Op: "start the nested namespaces",
				Detail: fmt.Sprintf("only %d files may be open, and the sandbox is made with descriptors up to %d", nofile.Hard, highFD+1),
				Hint:   "raise the hard limit: ulimit -Hn 1024 in a shell of root, or LimitNOFILE= of a service"}
		}
		return err
	}
	i.nest.terminal = c.Foreground
	i.nest.thread = i.thread
	i.nest.setNofile, i.nest.nofile = nofile.Known, unix.Rlimit{Cur: nofile.Soft, Max: nofile.Hard}
	for _, fd := range c.PassFDs {
		i.nest.pass = append(i.nest.pass, [2]uintptr{uintptr(fd + wire.PassOffset), uintptr(fd)})
	}
	for _, s := range c.IgnoredSignals {
		if s > 0 && s <= lastSignal {
			i.nest.ignored[s] = true
		}
	}
	if i.cfg.ByBwrap {
		allowWrites(i.nest.ruleset, i.cfg)
	}
	runtime.LockOSThread()
	i.child, err = i.nest.fork()
	runtime.UnlockOSThread()
	if err != nil {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "start the nested namespaces", Detail: err.Error()}
	}
	if i.cfg.ByBwrap {
		return nil
	}
	if _, err := i.hear(); err != nil {
		return nestFault(err)
	}
	if err := i.applied.CoverProc(i.cfg.SharedProc); err != nil {
		return err
	}
	if err := i.applied.Verify(i.proc); err != nil {
		return err
	}
	allowWrites(i.nest.ruleset, i.cfg)
	return i.nest.release()
}

func nestFault(err error) *wire.Fault {
	f := &wire.Fault{Code: wire.CodeUnsupported, Op: "start the nested namespaces", Detail: err.Error()}
	var failed *stepError
	if !errors.As(err, &failed) || failed.step != stepFilter {
		return f
	}
	switch failed.errno {
	case unix.EBUSY:
		f.Detail = "this process tree already has a system call listener, and the kernel allows one"
		f.Hint = "run srt outside the container or tool that supervises system calls, or set enableWeakerNestedSandbox"
	case unix.EINVAL, unix.ENOSYS:
		f.Detail = "this kernel cannot supervise system calls (Linux 5.19 or later can)"
		f.Hint = "use a newer kernel, or set enableWeakerNestedSandbox: unix sockets are refused then, and missing protected paths only checked after the run"
	}
	return f
}

// started takes the listener, starts the supervisor and tells srt that the command runs.
func (i *initd) started(path string) error {
	w, err := i.hear()
	if err != nil {
		return nestFault(err)
	}
	if err := i.supervise(w.fd); err != nil {
		return err
	}
	i.await(i.nest.exec[0])
	if e := i.nest.executed(); e != 0 {
		return notExecuted(path, e)
	}
	if w, err = i.hear(); err != nil {
		return nestFault(err)
	}
	defer unix.Close(w.fd)
	return i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindStarted}, w.fd)
}

// wait passes on what happens to the command and returns its exit status as a shell would show it.
func (i *initd) wait() (int, error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	for fd := range 3 { // a reader of the command's output must see its end
		_ = unix.Dup2(null, fd)
	}
	for {
		w, err := i.next()
		if err != nil {
			return 0, &wire.Fault{Code: wire.CodeInternal, Op: "wait for the command", Detail: err.Error()}
		}
		switch w.kind {
		case noteStopped:
			_ = i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindStopped, Stopped: &wire.Stopped{Signal: int(w.value)}})
		case noteEnded:
			for _, c := range i.cursors {
				c.giveBack()
			}
			i.leftovers(i.lastReports())
			ws := syscall.WaitStatus(w.value)
			e, status := wire.Exit{Code: ws.ExitStatus()}, ws.ExitStatus()
			if ws.Signaled() {
				e = wire.Exit{Signal: int(ws.Signal())}
				status = 128 + e.Signal
			}
			return status, i.channel.Send(&wire.ControlMessage{Version: wire.Version, Kind: wire.KindExit, Exit: &e})
		}
	}
}

// next waits for what happens to the command: the nested init tells, or, without one, this process is its parent.
func (i *initd) next() (note, error) {
	if !i.cfg.ByBwrap {
		return i.hear()
	}
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR || err == nil && pid != i.child:
			continue // an orphan that came to PID 1
		case err != nil:
			return note{}, err
		case ws.Stopped():
			return note{kind: noteStopped, value: int32(ws.StopSignal())}, nil
		}
		_ = syscall.Kill(-1, syscall.SIGKILL) // everything else in this PID namespace
		return note{kind: noteEnded, value: int32(ws)}, nil
	}
}
