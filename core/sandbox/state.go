package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// ProcessState says how a command ended.
type ProcessState struct {
	pid   int
	exit  wire.Exit
	state *os.ProcessState // of the wrapper around the command
}

// Pid is the process id that the command had, as the program that started it counts; 0 when it never ran.
func (p *ProcessState) Pid() int { return p.pid }

// ExitCode is the exit status, or -1 when a signal ended the command.
func (p *ProcessState) ExitCode() int {
	if p.exit.Signal != 0 {
		return -1
	}
	return p.exit.Code
}

// Exited says whether the command ended by itself.
func (p *ProcessState) Exited() bool { return p.exit.Signal == 0 }

// Signal is what ended the command, 0 when it ended by itself.
func (p *ProcessState) Signal() syscall.Signal { return syscall.Signal(p.exit.Signal) }

// Success says whether the command ended with status 0.
func (p *ProcessState) Success() bool { return p.exit == wire.Exit{} }

// UserTime is the user CPU time of the sandbox with everything in it.
func (p *ProcessState) UserTime() time.Duration { return p.state.UserTime() }

// SystemTime is the system CPU time of the sandbox with everything in it.
func (p *ProcessState) SystemTime() time.Duration { return p.state.SystemTime() }

// String says it as os.ProcessState does.
func (p *ProcessState) String() string {
	if p.exit.Signal != 0 {
		return "signal: " + syscall.Signal(p.exit.Signal).String()
	}
	return "exit status " + strconv.Itoa(p.exit.Code)
}

// ExitError is returned when a command ran and did not end with status 0. It unwraps to an *exec.ExitError, whose ExitCode is the
// status as a shell shows it: 128 + N when signal N ended the command.
type ExitError struct {
	*ProcessState
	Stderr []byte // the beginning and the end of stderr when Output was used and Stderr was not set
}

func (e *ExitError) Error() string { return e.ProcessState.String() }

// Unwrap: see ExitError.
func (e *ExitError) Unwrap() error { return &exec.ExitError{ProcessState: e.state, Stderr: e.Stderr} }

// Process is a running command.
type Process struct {
	Pid int // of its main process, which leads a process group
	c   *Cmd
}

// Signal sends sig to the command's main process. os.ErrProcessDone when it has ended.
func (p *Process) Signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return &Fault{Code: wire.CodeUnsupported, Op: "send signal", Path: sig.String(), Detail: "not a signal of this operating system"}
	}
	return p.c.command.Signal(s, false)
}

// SignalGroup sends sig to the process group of the command, as a terminal does.
func (p *Process) SignalGroup(sig syscall.Signal) error { return p.c.command.Signal(sig, true) }

// Kill ends the command at once, with everything that it started.
func (p *Process) Kill() error {
	p.c.command.Stop()
	return nil
}
