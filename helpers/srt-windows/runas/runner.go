package runas

import (
	"errors"
	"fmt"
	"io"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/quote"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Runner is the runner's half. It runs as the account, not restricted, and trusts what comes over the pipe: only exec can speak there.
type Runner struct {
	API  winapi.Inner
	Self string
	Pipe io.ReadWriter
}

// Run carries the conversation of talk.go out. Faults have been told to exec when it returns.
func (r Runner) Run() error {
	started := false
	exit, err := r.run(&started)
	if err != nil {
		if started {
			return err // exec hears the end of the pipe
		}
		return errors.Join(err, Send(r.Pipe, Message{Kind: SayFault, Fault: asFault(err)}))
	}
	return Send(r.Pipe, Message{Kind: SayExit, Exit: &exit})
}

func asFault(err error) *wire.Fault {
	if f, ok := errors.AsType[*wire.Fault](err); ok {
		return f
	}
	return &wire.Fault{Code: wire.CodeInternal, Op: "run under the account", Detail: err.Error()}
}

func (r Runner) run(started *bool) (ExitMessage, error) {
	m, err := expect(r.Pipe, SayPrepare)
	if err != nil {
		return ExitMessage{}, err
	}
	p := *m.Prepare
	logons, err := r.API.LogonSIDs()
	if err != nil {
		return ExitMessage{}, fmt.Errorf("ask for the logon identifiers: %w", err)
	}
	half := Half(logons, p.Callers, p.Account)
	token, err := r.API.Restrict(Token(half, p.Own, p.Roots, p.Callers))
	if err != nil {
		return ExitMessage{}, fmt.Errorf("restrict the token: %w", err)
	}
	defer token.Close()
	report, err := r.check(token, p)
	if err != nil {
		return ExitMessage{}, fmt.Errorf("run the self-check: %w", err)
	}
	if err := Send(r.Pipe, Message{Kind: SayReady, Ready: &Ready{Half: half, Report: report}}); err != nil {
		return ExitMessage{}, err
	}
	if _, err := expect(r.Pipe, SayGo); err != nil {
		return ExitMessage{}, err
	}
	systemDir, err := r.API.SystemDir()
	if err != nil {
		return ExitMessage{}, fmt.Errorf("find the system directory: %w", err)
	}
	program, err := Find(p.Argv, p.Env, p.Dir, systemDir, r.API.Exists)
	if err != nil {
		return ExitMessage{}, err
	}
	code, err := r.start(token, p, program, started)
	return ExitMessage{uint64(code), schannel(program.Path, p.Argv, systemDir, code)}, err
}

// check starts this program once more under the command's token, hands it the questions and reads the answers.
func (r Runner) check(token winapi.Token, p Prepare) (report []byte, err error) {
	inR, inW, err := r.API.Pipe()
	if err != nil {
		return nil, err
	}
	defer inR.Close()
	defer inW.Close()
	outR, outW, err := r.API.Pipe()
	if err != nil {
		return nil, err
	}
	defer outR.Close()
	defer outW.Close()
	null, err := r.API.Null()
	if err != nil {
		return nil, err
	}
	defer null.Close()
	line, err := quote.Argv([]string{r.Self, VerbProbe})
	if err != nil {
		return nil, err
	}
	proc, err := token.Start(winapi.StartSpec{Program: r.Self, Line: line, Env: runnerEnv(p.Env), Dir: SystemRoot(p.Env), Desktop: p.Desktop,
		Streams: [3]winapi.Stream{inR, outW, null}}, nil)
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	if err := errors.Join(proc.Resume(), inR.Close(), outW.Close()); err != nil {
		return nil, errors.Join(err, proc.Kill())
	}
	if _, err := inW.Write(p.Check); err != nil {
		return nil, errors.Join(err, proc.Kill())
	}
	if err := inW.Close(); err != nil {
		return nil, errors.Join(err, proc.Kill())
	}
	report, err = io.ReadAll(io.LimitReader(outR, maxTalk))
	if err != nil {
		return nil, errors.Join(err, proc.Kill())
	}
	if code, err := proc.Wait(); err != nil || code != 0 {
		return nil, errors.Join(fmt.Errorf("it ended with status %d", code), err)
	}
	return report, nil
}

func (r Runner) start(token winapi.Token, p Prepare, program Program, started *bool) (uint32, error) {
	spec := winapi.StartSpec{Program: program.Path, Line: program.Line, Env: p.Env, Dir: p.Dir, Desktop: p.Desktop, Streams: r.API.Streams()}
	var console winapi.Console
	if p.Terminal {
		var err error
		if console, err = r.API.NewConsole(spec.Streams[0], spec.Streams[1], p.Size.Columns, p.Size.Rows); err != nil {
			return 0, fmt.Errorf("make a terminal: %w", err)
		}
		spec.Streams = [3]winapi.Stream{}
		defer console.Close() // what the command wrote last comes out before this returns
	}
	proc, err := token.Start(spec, console)
	if err != nil {
		return 0, startFault(program.Path, err)
	}
	defer proc.Close()
	if err := proc.Resume(); err != nil {
		return 0, errors.Join(fmt.Errorf("let the command go: %w", err), proc.Kill())
	}
	*started = true
	if err := Send(r.Pipe, Message{Kind: SayStarted}); err != nil {
		return 0, errors.Join(err, proc.Kill())
	}
	go r.control(console, proc)
	code, err := proc.Wait()
	if err != nil {
		return 0, fmt.Errorf("wait for the command: %w", err)
	}
	return code, nil
}

// control obeys exec until its end closes; then the command must not go on.
func (r Runner) control(console winapi.Console, proc winapi.Process) {
	for {
		var m Message
		if err := Receive(r.Pipe, &m); err != nil {
			_ = proc.Kill() // it may have ended by itself; the job ends what is left
			return
		}
		switch {
		case m.Kind == SayCtrlC || m.Kind == SayCtrlBreak:
			_ = r.API.Interrupt(m.Kind == SayCtrlBreak) // a command that has just ended has no ears
		case m.Kind == SayResize && m.Size != nil && console != nil:
			_ = console.Resize(m.Size.Columns, m.Size.Rows) // the next change of size repeats it
		}
	}
}

// startFault turns the numbers of CreateProcess into the statuses that shells use.
func startFault(path string, err error) error {
	code, ok := errors.AsType[winapi.Errno](err)
	switch {
	case ok && (code == winapi.ErrFileNotFound || code == winapi.ErrPathNotFound):
		return &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: path, Detail: err.Error()}
	case ok && (code == winapi.ErrAccessDenied || code == 193 || code == 216 || code == 740 || code == 1260 || code == 4551): // not allowed, no program, other machine, wants elevation, policy
		return &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: path, Detail: err.Error(), Hint: "the account must be able to read and execute " + winpath.Base(path) + "; allowRead its folder"}
	}
	return fmt.Errorf("start %q: %w", path, err)
}
