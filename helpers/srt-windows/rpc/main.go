// Command srt-windows-rpc is the Windows helper for those who ask more than one question: it answers a session over go-plugin, on a port of
// the loopback address that srt alone can use. It plans like srt-windows and names srt-windows, which lies beside it, as what the plan
// executes. It is a program of its own so that what runs elevated, or under the sandbox account, links no network service.
package main

import (
	"fmt"
	"os"

	"github.com/srt-dev/srt/core/pluginrpc"
)

// commit is set by the build.
var commit = "unknown"

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) != 1 || args[0] != pluginrpc.VerbServe {
		fmt.Fprintln(os.Stderr, "srt-windows-rpc is started by srt; run srt doctor")
		return statusFailed
	}
	h, err := newHelper(commit)
	if err == nil {
		err = pluginrpc.ServeHelper(h)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "srt: error: %v\n", err)
		return statusFailed
	}
	return 0
}

// statusFailed is the exit status of a failure of our own.
const statusFailed = 125
