package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/guard"
	"github.com/srt-dev/srt/helpers/srt-darwin/hostfs"
	"github.com/srt-dev/srt/helpers/srt-darwin/plan"
	"github.com/srt-dev/srt/helpers/srt-darwin/prove"
	"github.com/srt-dev/srt/helpers/srt-darwin/watch"
)

func (helper) Describe(context.Context) (wire.Description, error) { return describe(), nil }

func (helper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	return build(req)
}

func (helper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	items, err := proveAll()
	return wire.CheckReport{Version: wire.Version, Items: items}, err
}

func build(req wire.LaunchRequest) (wire.LaunchPlan, error) {
	self, err := os.Executable()
	if err != nil {
		return wire.LaunchPlan{}, &wire.Fault{Code: wire.CodeInternal, Op: "find srt-darwin", Detail: err.Error()}
	}
	return plan.Build(req, hostfs.New(), self)
}

func proveAll() ([]wire.CheckItem, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "find srt-darwin", Detail: err.Error()}
	}
	return prove.Run(self, build), nil
}

// runHere has the verbs that need macOS.
func runHere(verb string, args []string) int {
	switch {
	case verb == prove.Verb && len(args) == 1:
		return prove.Main(args[0])
	case verb == "prove" && len(args) == 0:
		return printProof()
	case verb == wire.VerbWatch && len(args) == 0:
		return beside(func(conn *os.File, control *oneshot.Channel) error {
			return watch.Serve(conn, control, describe(), watch.LogProgram)
		})
	case verb == wire.VerbGuard && len(args) == 0:
		return beside(func(conn *os.File, control *oneshot.Channel) error {
			err := guard.Serve(conn, control, describe())
			if err != nil { // nobody is left to tell
				fmt.Fprintf(os.Stderr, "srt: error: end what is left of the command: %v\n", err)
			}
			return err
		})
	}
	return usage()
}

// beside runs a verb that stays beside a command. What went wrong is told to srt, or by the end of the channel.
func beside(serve func(conn *os.File, control *oneshot.Channel) error) int {
	syscall.CloseOnExec(oneshot.RequestFD)
	syscall.CloseOnExec(oneshot.ControlFD)
	conn := os.NewFile(oneshot.RequestFD, "request")
	if conn == nil || serve(conn, oneshot.NewChannel(oneshot.ControlFD, wire.MaxControlMessage)) != nil {
		return statusFailed
	}
	return 0
}

func printProof() int {
	items, err := proveAll()
	if err != nil {
		fmt.Fprintf(os.Stderr, "srt: error: %v\n", err)
		return statusFailed
	}
	version, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		version = "of unknown version"
	}
	machine, err := unix.Sysctl("hw.machine")
	if err != nil {
		machine = "unknown"
	}
	if !prove.Print(os.Stdout, "macOS "+version+", "+machine, items) {
		return 1
	}
	return 0
}
