package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/srt-dev/srt/core/environ"
	"github.com/srt-dev/srt/core/policy"
	"github.com/srt-dev/srt/core/session"
	"github.com/srt-dev/srt/core/wire"
)

// DefaultGrace is how long a command has to end after its context did; see Cmd.Grace.
const DefaultGrace = 5 * time.Second

// Cmd is a command in the sandbox. It is used like an exec.Cmd: fields are set before Start, and it runs once.
type Cmd struct {
	// Args are the words of the command. Args[0] is looked up inside the sandbox, in the PATH of Env.
	Args []string
	// Env is the environment that the command gets, with srt's own variables (proxies, TMPDIR) in place of its; nil: that of this program.
	Env []string
	// Dir is the working directory; a relative one starts at that of the Manager, "" is that of the Manager.
	Dir string

	// Stdin, Stdout and Stderr are as in exec.Cmd: nil is the null device, an *os.File is handed over, everything else is copied.
	// A directory, or a file opened with O_PATH, is refused.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// ExtraFiles are handed on: entry i is descriptor 3+i of the command. A nil entry is no descriptor. They are a way around the file
	// policy for what they are.
	ExtraFiles []*os.File

	// Grace is how long the command has from SIGTERM, which it gets when the context ends, to SIGKILL for everything that it started.
	// 0: DefaultGrace.
	Grace time.Duration
	// WaitDelay is as in exec.Cmd: how long Wait waits for copying that does not end with the command, 0 for ever. What the command leaves
	// running ends with it and holds no pipe open; but a Reader or Writer of yours that does not return is waited for, also by Close.
	WaitDelay time.Duration

	// Process is the running command, after Start. ProcessState says how it ended, after Wait; nil when that is not known.
	Process      *Process
	ProcessState *ProcessState

	m       *Manager
	ctx     context.Context
	o       commandOptions
	x       exec.Cmd // the wrapper
	id      string
	command *session.Command
	ended   chan struct{} // closed when Wait is through
	cut     chan struct{} // closed when the context ended the command
	waiting sync.Once
	waitErr error
	report  []string
}

// Command gives a command that runs name with args; nothing runs before Start. When ctx ends, so does the command, with everything that
// it started.
func (m *Manager) Command(ctx context.Context, name string, args ...string) *Cmd {
	return &Cmd{Args: append([]string{name}, args...), m: m, ctx: ctx, ended: make(chan struct{}), cut: make(chan struct{})}
}

// Shell gives a command that runs line in /bin/sh. Its text, and so its attribution key, is line.
func (m *Manager) Shell(ctx context.Context, line string) *Cmd {
	return m.Command(ctx, "/bin/sh", "-c", line).With(WithCommandText(line))
}

// With sets options of the command and gives it back.
func (c *Cmd) With(opts ...CommandOption) *Cmd {
	for _, opt := range opts {
		opt(&c.o)
	}
	return c
}

// String gives the command's text.
func (c *Cmd) String() string {
	if c.o.text != "" {
		return c.o.text
	}
	shown := make([]string, len(c.Args))
	for i, w := range c.Args {
		shown[i] = w
		if w == "" || strings.ContainsAny(w, " \t\r\n\v\f\"'`$\\|&;<>()*?[]{}~#!^") {
			shown[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}

// Key is the attribution key of the command.
func (c *Cmd) Key() string {
	if c.o.id != "" {
		return c.o.id
	}
	return c.String()
}

// errUsed is what a Cmd says when it is started again.
var errUsed = errors.New("sandbox: the command was started already")

// prepare gets a plan for the command.
func (c *Cmd) prepare() error {
	switch {
	case c.command != nil || c.id != "":
		return errUsed
	case len(c.Args) == 0:
		return errors.New("sandbox: no command")
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case len(c.ExtraFiles) > wire.MaxPassFD-2:
		return &Fault{Code: wire.CodePolicy, Op: "hand on", Path: "ExtraFiles", Detail: "too many files"}
	}
	key := c.Key()
	id, p := c.m.begin(key, c.String())
	c.id = id
	pass := map[int]*os.File{}
	cmd := wire.Command{Argv: c.Args, Env: c.env(p.SafeDirectories()), Dir: c.dir()}
	for i, f := range c.ExtraFiles {
		if f != nil {
			pass[3+i] = f
			cmd.PassFDs = append(cmd.PassFDs, 3+i)
		}
	}
	request := p.LaunchRequest(cmd, policy.LaunchOptions{CommandID: id, SessionID: c.m.id, Explain: c.m.o.explain, Audit: c.m.o.files})
	command, err := c.m.session.Prepare(c.ctx, request, func() *wire.NetLists { return c.m.listsOf(key) }, pass)
	if err != nil {
		c.m.end(id, c)
		if c.ctx.Err() != nil {
			err = c.ctx.Err()
		}
		return err
	}
	c.command = command
	for _, w := range command.Plan().Warnings {
		c.m.o.log.Warn(w, "command", c.String())
	}
	return nil
}

func (c *Cmd) dir() string {
	switch {
	case c.Dir == "":
		return c.m.o.dir
	case !filepath.IsAbs(c.Dir):
		return filepath.Join(c.m.o.dir, c.Dir)
	}
	return filepath.Clean(c.Dir)
}

func (c *Cmd) env(safe []string) []string {
	caller := c.Env
	if caller == nil {
		caller = os.Environ()
	}
	return environ.Build(environ.Spec{GOOS: runtime.GOOS, Caller: caller, ProxyAddr: wire.LinuxProxyAddr, TmpDir: wire.LinuxTmpDir,
		Relay: []string{wire.LinuxRelay}, Root: os.Geteuid() == 0, SafeDirectories: safe})
}

// Start starts the command and returns when it runs. A command that is not found, or cannot be executed, is an error here: a *Fault
// with the code "not-found" or "not-exec". When Start succeeds, Wait must be called.
func (c *Cmd) Start() error {
	if err := c.prepare(); err != nil {
		if c.command == nil && c.x.Process == nil {
			c.x.Err = err
			return c.x.Start() // fails with err and closes the pipes
		}
		return err
	}
	c.x.Stdin, c.x.Stdout, c.x.Stderr, c.x.WaitDelay = c.Stdin, c.Stdout, c.Stderr, c.WaitDelay
	if err := c.command.Start(c.ctx, &c.x); err != nil {
		if c.x.Process != nil {
			_ = c.x.Wait()
		}
		_ = c.command.Finish()
		c.m.end(c.id, c)
		if c.ctx.Err() != nil {
			err = c.ctx.Err()
		}
		return err
	}
	c.Process = &Process{Pid: c.command.Pid(), c: c}
	c.m.mu.Lock()
	c.m.cmds[c] = struct{}{}
	c.m.mu.Unlock()
	if c.ctx.Done() != nil {
		go c.watch()
	}
	return nil
}

// watch ends the command when its context does.
func (c *Cmd) watch() {
	select {
	case <-c.ended:
		return
	case <-c.command.Ended():
		return
	case <-c.ctx.Done():
	}
	close(c.cut)
	grace := c.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	_ = c.command.Signal(syscall.SIGTERM, true) // it has ended: nothing to tell
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-c.command.Ended():
	case <-late.C:
		c.command.Stop()
	}
}

// Wait waits for the end of the command and of the copying, and leaves nothing of it. The error is an *ExitError when the command did
// not succeed, the error of the context when that ended it, and a *Fault when srt failed or the Manager is broken: then ProcessState
// still says how the command ended, if that is known.
func (c *Cmd) Wait() error {
	if c.command == nil || c.Process == nil {
		return errors.New("sandbox: the command was not started")
	}
	c.waiting.Do(c.wait)
	return c.waitErr
}

func (c *Cmd) wait() {
	copied := c.x.Wait()
	failed := c.command.Finish()
	close(c.ended)
	exit, known := c.command.Exit()
	if known {
		c.ProcessState = &ProcessState{pid: c.Process.Pid, exit: exit, state: c.x.ProcessState}
	}
	c.report = c.command.Report()
	c.m.end(c.id, c)
	var status *exec.ExitError
	if errors.As(copied, &status) {
		copied = nil // of the wrapper; the command's own is better known
	}
	switch {
	case c.wasCut() && (!known || !c.ProcessState.Success()):
		c.waitErr = c.ctx.Err()
	case failed != nil:
		c.waitErr = failed
	case !known:
		c.ProcessState = &ProcessState{pid: c.Process.Pid, exit: wire.Exit{Signal: int(syscall.SIGKILL)}, state: c.x.ProcessState} // Kill or Close
		c.waitErr = &ExitError{ProcessState: c.ProcessState}
	case !c.ProcessState.Success():
		c.waitErr = &ExitError{ProcessState: c.ProcessState}
	default:
		c.waitErr = copied
	}
}

func (c *Cmd) wasCut() bool {
	select {
	case <-c.cut:
		return true
	default:
		return false
	}
}

// Report says, after Wait, what the command left that could run later: hooks of repositories that it made, and the like.
func (c *Cmd) Report() []string { return c.report }

// Run is Start and Wait.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs the command and gives what it wrote to stdout. When Stderr is not set, an *ExitError holds the stderr.
func (c *Cmd) Output() ([]byte, error) {
	if c.Stdout != nil {
		return nil, errors.New("sandbox: Stdout already set")
	}
	var out bytes.Buffer
	var kept *ends
	c.Stdout = &out
	if c.Stderr == nil {
		kept = &ends{}
		c.Stderr = kept
	}
	err := c.Run()
	if e, ok := errors.AsType[*ExitError](err); ok && kept != nil {
		e.Stderr = kept.bytes()
	}
	return out.Bytes(), err
}

// CombinedOutput runs the command and gives what it wrote to stdout and stderr.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	if c.Stdout != nil || c.Stderr != nil {
		return nil, errors.New("sandbox: Stdout or Stderr already set")
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}

// StdinPipe gives a pipe to the command's standard input. It is closed by Wait; close it earlier to show the command the end.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	if c.Stdin != nil {
		return nil, errors.New("sandbox: Stdin already set")
	}
	w, err := c.x.StdinPipe()
	c.Stdin = c.x.Stdin
	return w, err
}

// StdoutPipe gives a pipe from the command's standard output. Wait closes it: read to its end first.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) {
	if c.Stdout != nil {
		return nil, errors.New("sandbox: Stdout already set")
	}
	r, err := c.x.StdoutPipe()
	c.Stdout = c.x.Stdout
	return r, err
}

// StderrPipe is StdoutPipe for standard error.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) {
	if c.Stderr != nil {
		return nil, errors.New("sandbox: Stderr already set")
	}
	r, err := c.x.StderrPipe()
	c.Stderr = c.x.Stderr
	return r, err
}
