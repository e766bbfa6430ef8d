package runas

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/quote"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// VerbRunner and VerbProbe are the internal verbs that exec and runner start this program under.
const (
	VerbRunner = "runner"
	VerbProbe  = "probe"
)

// Exec is exec's half of a run.
type Exec struct {
	Host     winapi.Host
	Random   io.Reader
	Self     string // this program, absolute; the account must be able to execute it
	Pid      uint32 // of exec
	User     sd.SID // who runs exec
	Account  sd.SID
	Name     string // the account's name
	Password string
	Group    sd.SID
	Prepare  Prepare
	Streams  [3]winapi.Stream
	Judge    func(Ready) error // what the self-check's report is worth; an error means that nothing runs
	Control  <-chan Message    // SayCtrlC, SayCtrlBreak, SayResize
	Started  func()            // called once, when the command runs
	Blame    func(*wire.Fault) // hears why the command has failed, where that is known; may be nil
	Abort    <-chan struct{}   // closes when srt has ended: then the command must not go on
}

// Run starts the command and gives its exit status. Whatever fails, nothing of it runs when Run returns.
func (e Exec) Run() (code uint32, err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	job, err := e.Host.NewJob(Job())
	if err != nil {
		return 0, jobError("", err)
	}
	undo = append(undo, job.Close) // last: it ends whatever is left
	facts, err := job.Facts()
	if err != nil {
		return 0, jobError("it cannot be read back", err)
	}
	if d := CheckJob(facts); d != "" {
		return 0, jobError("it is not the one that was asked for: "+d, nil)
	}
	desktop, err := e.Host.NewDesktop(StationSecurity(e.User, e.Account), DesktopSecurity(e.User, e.Account, e.Prepare.Own))
	if err != nil {
		return 0, fmt.Errorf("make the desktop: %w", err)
	}
	undo = append(undo, desktop.Close)
	name, err := e.pipeName()
	if err != nil {
		return 0, err
	}
	listener, err := e.Host.NewPipe(name, PipeSecurity(e.User, e.Account))
	if err != nil {
		return 0, fmt.Errorf("make the pipe to the runner: %w", err)
	}
	undo = append(undo, listener.Close)
	line, err := quote.Argv([]string{e.Self, VerbRunner, name, strconv.FormatUint(uint64(e.Pid), 10), string(e.User)})
	if err != nil {
		return 0, err
	}
	// The runner's environment is built, like everybody's: nothing of the caller's reaches a process that is not restricted.
	runner, err := e.Host.StartAs(e.Name, e.Password, winapi.StartSpec{Program: e.Self, Line: line, Env: runnerEnv(e.Prepare.Env),
		Dir: SystemRoot(e.Prepare.Env), Desktop: desktop.Name(), Streams: e.Streams})
	if err != nil {
		return 0, &problem.Error{Code: problem.Logon, Op: "start the runner as", Path: e.Name, Err: err,
			Fix: "srt-windows install sets the account up anew; the service \"Secondary Logon\" must not be disabled"}
	}
	undo = append(undo, runner.Close)
	stop := e.abort(runner)
	defer stop()
	if err := job.Assign(runner); err != nil {
		return 0, errors.Join(jobError("the runner cannot be put into it", err), runner.Kill())
	}
	if err := runner.Resume(); err != nil {
		return 0, errors.Join(fmt.Errorf("let the runner go: %w", err), runner.Kill())
	}
	pipe, err := listener.Accept(runner.Pid())
	if err != nil {
		return 0, errors.Join(fmt.Errorf("wait for the runner: %w", err), runner.Kill())
	}
	undo = append(undo, pipe.Close)
	e.Prepare.Desktop, e.Prepare.Account = desktop.Name(), e.Account
	return e.converse(pipe)
}

// abort ends the runner when srt has ended, until stop is called. What waits for the runner's words then hears that it is gone, and Run
// takes everything else away.
func (e Exec) abort(runner winapi.Process) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-e.Abort:
			_ = runner.Kill() // it may have ended by itself
		case <-done:
		}
	}()
	return func() { close(done); <-over }
}

func jobError(detail string, err error) error {
	return &problem.Error{Code: problem.Job, Op: "make the job", Detail: detail, Err: err, Fix: "this system cannot hold a command together (Wine cannot); on Windows please report its version"}
}

// converse is the conversation of talk.go, from exec's side.
func (e Exec) converse(pipe io.ReadWriter) (uint32, error) {
	if err := Send(pipe, Message{Kind: SayPrepare, Prepare: &e.Prepare}); err != nil {
		return 0, err
	}
	m, err := expect(pipe, SayReady)
	if err != nil {
		return 0, err
	}
	if err := e.Judge(*m.Ready); err != nil {
		return 0, err
	}
	if err := Send(pipe, Message{Kind: SayGo}); err != nil {
		return 0, err
	}
	if _, err := expect(pipe, SayStarted); err != nil {
		return 0, err
	}
	if e.Started != nil {
		e.Started()
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			case c, ok := <-e.Control:
				if !ok || Send(pipe, c) != nil {
					return // the runner has ended, and the reader below hears of it
				}
			}
		}
	}()
	m, err = expect(pipe, SayExit)
	if err != nil {
		return 0, err
	}
	if e.Blame != nil && m.Exit.Blame != nil {
		e.Blame(m.Exit.Blame)
	}
	return uint32(m.Exit.Code), nil
}

// expect reads one message, which must be of the kind or a fault.
func expect(r io.Reader, kind string) (Message, error) {
	var m Message
	if err := Receive(r, &m); err != nil {
		return m, err
	}
	switch {
	case m.Kind == SayFault && m.Fault != nil:
		return m, m.Fault
	case m.Kind != kind, kind == SayReady && m.Ready == nil, kind == SayExit && m.Exit == nil, kind == SayPrepare && m.Prepare == nil:
		return m, &wire.Fault{Code: wire.CodeMalformed, Op: "listen to the runner", Detail: fmt.Sprintf("%q where %q belongs", m.Kind, kind)}
	}
	return m, nil
}

func (e Exec) pipeName() (string, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(e.Random, raw); err != nil {
		return "", fmt.Errorf("draw a name for the pipe: %w", err)
	}
	return `\\.\pipe\srt-` + hex.EncodeToString(raw), nil
}

// systemNames are all that the runner's environment holds.
var systemNames = []string{"SystemRoot", "SystemDrive", "windir"}

func runnerEnv(env []string) []string {
	var out []string
	for _, n := range systemNames {
		if v := Lookup(env, n); v != "" {
			out = append(out, n+"="+v)
		}
	}
	return out
}

// SystemRoot is the directory of Windows by env.
func SystemRoot(env []string) string {
	if v := Lookup(env, "SystemRoot"); v != "" {
		return v
	}
	return `C:\Windows`
}
