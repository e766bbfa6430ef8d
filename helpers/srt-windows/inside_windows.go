package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/helper"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/run"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/selfcheck"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Statuses of exec that are not the command's (see cmd/srt/exitcode.go).
const (
	statusFailed   = 125
	statusNotExec  = 126
	statusNotFound = 127
)

// runInside carries out the verbs that srt or srt-windows itself starts.
func runInside(real *winapi.Real, w words) (status int, inside bool) {
	switch w.verb {
	case oneshot.VerbPlan, oneshot.VerbDescribe, oneshot.VerbCheck:
		return answer(real, w.verb), true
	case "exec":
		return execute(real), true
	case runas.VerbRunner:
		return runner(real, w.operands), true
	case runas.VerbProbe:
		return probe(real), true
	}
	return 0, false
}

// inherited takes the handle that was inherited as descriptor number; nobody inherits it from this process.
func inherited(number int, name string) (*os.File, error) {
	variable := wire.HandleVariable(number)
	text := os.Getenv(variable)
	h, err := strconv.ParseUint(text, 10, 64)
	if err != nil || h == 0 {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "read " + name, Detail: fmt.Sprintf("%s=%q names no handle", variable, text), Hint: "this verb is for srt"}
	}
	if err := windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, 0); err != nil {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "read " + name, Detail: fmt.Sprintf("%s=%q: %v", variable, text, err), Hint: "this verb is for srt"}
	}
	return os.NewFile(uintptr(h), name), nil
}

// clearEnvironment takes the caller's environment away, which could change what this process does with the user's rights. The system
// directory and the user's profile stay, as the system says them: without the first Windows finds no provider of sockets (error 10106),
// without the second not the folder of the user's data.
func clearEnvironment(real *winapi.Real) error {
	root, err := windows.GetSystemWindowsDirectory()
	if err != nil {
		return fmt.Errorf("find the system directory: %w", err)
	}
	profile, err := real.Profile()
	os.Clearenv()
	if err != nil { // the account may have none, and needs none
		return os.Setenv("SystemRoot", root)
	}
	return errors.Join(os.Setenv("SystemRoot", root), os.Setenv(helper.ProfileVariable, profile))
}

// standard are the streams over which a verb for srt is asked and answers.
type standard struct{}

func (standard) Read(b []byte) (int, error)  { return os.Stdin.Read(b) }
func (standard) Write(b []byte) (int, error) { return os.Stdout.Write(b) }

func answer(real *winapi.Real, verb string) int {
	if err := clearEnvironment(real); err != nil {
		return report(os.Stderr, err)
	}
	store, err := helper.UserStore(real)
	if err != nil {
		return report(os.Stderr, err)
	}
	self, err := real.Executable()
	if err != nil {
		return report(os.Stderr, err)
	}
	h := helper.New(real, store, commit, self)
	if err := oneshot.Serve(context.Background(), standard{}, h, verb); err != nil {
		return 1 // srt has been told
	}
	return 0
}

func execute(real *winapi.Real) int {
	code, err := executeRequest(real)
	if err == nil {
		return int(code)
	}
	f := problem.Fault(err)
	say(err, f.Hint)
	switch f.Code {
	case wire.CodeNotFound:
		return statusNotFound
	case wire.CodeNotExec:
		return statusNotExec
	}
	return statusFailed
}

func say(err error, hint string) {
	fmt.Fprintf(os.Stderr, "srt: error: %v\n", err)
	if hint != "" {
		fmt.Fprintf(os.Stderr, "srt: hint: %s\n", hint)
	}
}

func executeRequest(real *winapi.Real) (code uint32, err error) {
	f, err := inherited(helper.RequestNumber, "request")
	if err != nil {
		return 0, err
	}
	life, err := inherited(helper.LifetimeNumber, "lifetime")
	if err != nil {
		return 0, err
	}
	if err := clearEnvironment(real); err != nil {
		return 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, wire.MaxMessage+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("read request: %w", err)
	}
	var req wire.LaunchRequest
	if err := wire.Decode(data, wire.MaxMessage, &req); err != nil {
		return 0, err
	}
	store, err := helper.UserStore(real)
	if err != nil {
		return 0, err
	}
	streams, finish, err := openStreams(real)
	if err != nil {
		return 0, err
	}
	gone := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, life); close(gone) }()
	streams.Abort = gone
	res, err := run.Command(helper.Machine(real, store), req, streams)
	finish()
	for _, w := range res.Warnings {
		fmt.Fprintf(os.Stderr, "srt: %s\n", w)
	}
	for _, p := range res.Report {
		fmt.Fprintf(os.Stderr, "srt: the command made %s, which could run later outside the sandbox\n", p)
	}
	if err == nil && res.Blame != nil {
		say(res.Blame, res.Blame.Hint)
	}
	return res.Code, err
}

// runner is the process between exec and the command, under the account.
func runner(real *winapi.Real, operands []string) int {
	if err := clearEnvironment(real); err != nil {
		return report(os.Stderr, err)
	}
	if len(operands) != 3 {
		return statusFailed
	}
	user, err := sd.ParseSID(operands[2])
	if err != nil {
		return report(os.Stderr, err)
	}
	if err := real.HardenSelf(runas.RunnerSecurity(user)); err != nil { // before anything else of the account can look for this process
		return report(os.Stderr, fmt.Errorf("close this process to the command: %w", err))
	}
	server, err := strconv.ParseUint(operands[1], 10, 32)
	if err != nil {
		return report(os.Stderr, err)
	}
	if err := errors.Join(real.OnInterrupt(func(bool) {}), real.HearCtrlC()); err != nil {
		return report(os.Stderr, fmt.Errorf("listen to the console: %w", err))
	}
	pipe, err := real.Connect(operands[0], uint32(server))
	if err != nil {
		return report(os.Stderr, fmt.Errorf("reach srt-windows exec: %w", err))
	}
	defer pipe.Close()
	self, err := real.Executable()
	if err != nil {
		return report(os.Stderr, err)
	}
	if err := (runas.Runner{API: real, Self: self, Pipe: pipe}).Run(); err != nil {
		return statusFailed // exec has been told
	}
	return 0
}

// probe answers the self-check's questions under the command's token.
func probe(real *winapi.Real) int {
	if clearEnvironment(real) != nil {
		return 1
	}
	raw, err := io.ReadAll(io.LimitReader(os.Stdin, wire.MaxMessage))
	if err != nil {
		return 1
	}
	var s selfcheck.Spec
	if err := wire.Decode(raw, wire.MaxMessage, &s); err != nil {
		return 1
	}
	b, err := wire.Encode(selfcheck.Try(real, s))
	if err != nil {
		return 1
	}
	if _, err := os.Stdout.Write(b); err != nil {
		return 1
	}
	return 0
}
