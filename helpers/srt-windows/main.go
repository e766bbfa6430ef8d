// Command srt-windows confines a command on Windows: it runs it under an account of its own, behind filters that let the account reach
// srt's proxies only, with access entries on the files that the settings name. install, uninstall, status, selfcheck and acl are for
// people; plan, describe and check answer srt (core/oneshot); exec is what a plan executes, runner and probe are what exec starts.
//
// It must never run a command that the self-check has not passed, take words from a settings file for an elevated verb, or call another
// program (net, icacls, netsh, whoami) for its work.
//
// Third-party dependencies: golang.org/x/sys/windows, the calls of the system. The filtering platform is called directly: the known
// binding (tailscale/wf) offers no transactions, and half a fence must not exist.
package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/srt-dev/srt/helpers/srt-windows/elevate"
	"github.com/srt-dev/srt/helpers/srt-windows/helper"
	"github.com/srt-dev/srt/helpers/srt-windows/journal"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// commit is set by the build.
var commit = "unknown"

func main() { os.Exit(start(os.Args[1:])) }

// start is main with an exit status. Verbs that live inside a run (exec, runner, probe) have statuses of their own.
func start(args []string) int {
	w, err := parse(args)
	if err != nil {
		return report(os.Stderr, err)
	}
	switch w.verb {
	case "help":
		fmt.Fprint(os.Stdout, usage())
		return 0
	case "version":
		fmt.Fprintln(os.Stdout, "srt-windows", commit)
		return 0
	}
	real, err := winapi.New()
	if err != nil {
		return report(os.Stderr, err)
	}
	if status, inside := runInside(real, w); inside {
		return status
	}
	store, err := helper.UserStore(real)
	if err != nil {
		return report(os.Stderr, err)
	}
	v := verbRunner{sys: real, store: store, out: os.Stdout, random: rand.Reader, self: os.Executable, elevate: elevate.Run, check: func() ([]checkItem, error) { return helper.Prove(real, store) }}
	return report(os.Stderr, v.run(args, w))
}

// report says what went wrong and gives the exit status.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if passed, ok := errors.AsType[statusError](err); ok {
		return int(passed)
	}
	fmt.Fprintf(w, "srt-windows: error: %v\n", err)
	if fix := problem.Fix(err); fix != "" {
		fmt.Fprintf(w, "srt-windows: hint: %s\n", fix)
	}
	return problem.Exit(err)
}

// statusError is the exit status of an elevated run, which has said everything itself.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("ended with status %d", int(s)) }

var _ journal.Store = journal.File{}
