// Command srt-linux is the Linux helper of srt: it turns a LaunchRequest into bubblewrap namespaces, mounts, a system call filter
// and a supervised command. It is linked without go-plugin and without cgo, because it starts twice for every command.
//
//	launch     one LaunchRequest on descriptor 3; answers with the plan, then becomes the sandbox (descriptor 4: control channel)
//	plan       the same request, answers with the plan only
//	describe   says what it is
//	check      tries every protection on this machine
//	enter T    the same, but inside the namespaces already and without a stop: srt itself started bwrap (core/entry)
//	init C S   PID 1 of a sandbox; started by bwrap only
//	mountprobe says by its status whether it can make mounts where it runs
//	nothing    ends at once, for who wants to know whether it starts at all
//	selftest   attacks the sandbox that it runs in; the command of check
//	connect    (or under the name connect) HOST PORT: relays a stream through the sandbox's proxy, as ssh's ProxyCommand
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/initd"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
	"github.com/srt-dev/srt/helpers/srt-linux/relay"
	"github.com/srt-dev/srt/helpers/srt-linux/selftest"
)

// commit is set by the build.
var commit = "unknown"

// statusFailed is the exit status of a failure of our own.
const statusFailed = 125

func init() { runtime.LockOSThread() } // namespaces, capabilities and the parent-death signal belong to a thread

func main() { os.Exit(run(os.Args)) }

func run(args []string) int {
	if filepath.Base(args[0]) == filepath.Base(wire.LinuxRelay) {
		args = append([]string{args[0], "connect"}, args[1:]...)
	}
	switch {
	case len(args) == 4 && args[1] == "init":
		config, err1 := strconv.Atoi(args[2])
		control, err2 := strconv.Atoi(args[3])
		if err1 == nil && err2 == nil {
			return initd.Main(func() (*initd.Config, error) { return initd.ReadConfig(config) }, nil, control)
		}
	case len(args) == 3 && args[1] == entry.VerbEnter:
		if thread, err := entry.ParseThread(args[2]); err == nil {
			return enter(thread)
		}
	case len(args) == 2 && args[1] == probe.VerbMounts:
		if probe.TryMounts() != nil {
			return statusFailed
		}
		return 0
	case len(args) == 2 && args[1] == probe.VerbNothing:
		return 0
	case len(args) > 1 && args[1] == "selftest":
		return selftest.Main(args[2:])
	case len(args) == 4 && args[1] == "connect":
		return relay.Main(args[2], args[3])
	case len(args) == 2 && args[1] == oneshot.VerbLaunch:
		return launch()
	case len(args) == 2 && args[1] == oneshot.VerbCheck:
		return check()
	case len(args) == 2 && (args[1] == oneshot.VerbPlan || args[1] == oneshot.VerbDescribe):
		return serve(args[1])
	}
	fmt.Fprintln(os.Stderr, "srt-linux is started by srt; run srt --help")
	return statusFailed
}

// planner answers every question but Check, which check hands on.
type planner struct{ plan.Helper }

func (planner) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{}, errors.ErrUnsupported
}

func serve(verb string) int {
	h, err := helper()
	if err == nil {
		err = oneshot.ServeFD(oneshot.RequestFD, planner{h}, verb)
	}
	if err != nil {
		return statusFailed // the reason went to the asker
	}
	return 0
}

// check is answered by srt-linux-rpc, whose larger binary is of no weight there.
func check() int {
	self, err := os.Executable()
	if err == nil {
		rpc := self + "-rpc"
		err = syscall.Exec(rpc, []string{rpc, oneshot.VerbCheck}, nil)
	}
	fmt.Fprintf(os.Stderr, "srt: error: start srt-linux-rpc: %v\n", err)
	return statusFailed
}
