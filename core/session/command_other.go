//go:build !linux

package session

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/srt-dev/srt/core/wire"
)

// Command cannot exist here yet.
type Command struct{}

// Supported refuses: nothing turns a plan of this operating system into a command of a session yet.
func Supported() error { return refuse() }

func refuse() *wire.Fault {
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "run commands in a session on", Path: runtime.GOOS,
		Detail: "sessions are there on Linux only", Hint: "start srt itself for each command"}
}

// Prepare refuses.
func (s *Session) Prepare(context.Context, wire.LaunchRequest, func() *wire.NetLists, map[int]*os.File) (*Command, error) {
	return nil, refuse()
}

// Relist has no command to tell about.
func (s *Session) Relist(context.Context, string) error { return nil }

// Plan is empty.
func (c *Command) Plan() wire.LaunchPlan { return wire.LaunchPlan{} }

// Files are none.
func (c *Command) Files() []*os.File { return nil }

// Start refuses.
func (c *Command) Start(context.Context, *exec.Cmd) error { return refuse() }

// Started never is.
func (c *Command) Started() <-chan struct{} { return nil }

// Ended never is.
func (c *Command) Ended() <-chan struct{} { return nil }

// Pid is none.
func (c *Command) Pid() int { return 0 }

// Exit is not known.
func (c *Command) Exit() (wire.Exit, bool) { return wire.Exit{}, false }

// Fault says why nothing runs.
func (c *Command) Fault() *wire.Fault { return refuse() }

// Report is empty.
func (c *Command) Report() []string { return nil }

// Signal reaches nobody.
func (c *Command) Signal(syscall.Signal, bool) error { return os.ErrProcessDone }

// Stop has nothing to end.
func (c *Command) Stop() {}

// Finish has nothing to free.
func (c *Command) Finish() error { return refuse() }
