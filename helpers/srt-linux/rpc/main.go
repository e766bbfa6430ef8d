// Command srt-linux-rpc is the Linux helper for those who ask more than one question: `serve` answers a session over go-plugin, `check`
// answers `srt doctor` on an inherited descriptor. It plans like srt-linux and starts srt-linux, which lies beside it, as the init.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/pluginrpc"
	"github.com/srt-dev/srt/helpers/srt-linux/check"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
)

// commit is set by the build.
var commit = "unknown"

// statusFailed is the exit status of a failure of our own.
const statusFailed = 125

func init() { runtime.LockOSThread() } // the parent-death signal belongs to a thread

func main() { os.Exit(run(os.Args)) }

func run(args []string) int {
	self, err := os.Executable()
	h := check.Helper{Helper: plan.New(commit, strings.TrimSuffix(self, "-rpc"))}
	switch {
	case err != nil:
	case len(args) == 2 && args[1] == pluginrpc.VerbServe:
		err = pluginrpc.ServeHelper(h)
	case len(args) == 2 && args[1] == oneshot.VerbCheck:
		if oneshot.ServeFD(oneshot.RequestFD, h, oneshot.VerbCheck) != nil {
			return statusFailed // the reason went to the asker
		}
	default:
		fmt.Fprintln(os.Stderr, "srt-linux-rpc is started by srt; run srt doctor")
		return statusFailed
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "srt: error: %v\n", err)
		return statusFailed
	}
	return 0
}
