// Command srt-darwin is the macOS helper of srt: it turns a LaunchRequest into a Seatbelt profile and the sandbox-exec command that
// puts it on, and reads from the system's log what was denied.
//
//	plan       one LaunchRequest on descriptor 3; answers with the plan
//	describe   says what it is
//	check      tries the sandbox for real and answers with the results
//	watch      one WatchRequest on descriptor 3; then sends denials on descriptor 4 until that is closed
//	guard      one GuardRequest on descriptor 3; then kills what is left of a command when descriptor 4 is closed
//	prove      the same attempts as check, printed for people
//	attempt    makes them; started by check and prove only
//	connect    HOST PORT: relays a stream through the sandbox's proxy, as ssh's ProxyCommand
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/relay"
)

// commit is set by the build.
var commit = "unknown"

// statusFailed is the exit status of a failure of our own.
const statusFailed = 125

func main() { os.Exit(run(os.Args)) }

func run(args []string) int {
	if len(args) < 2 {
		return usage()
	}
	verb, rest := args[1], args[2:]
	switch {
	case verb == "connect" && len(rest) == 2:
		return relay.Main(rest[0], rest[1])
	case len(rest) == 0 && (verb == oneshot.VerbPlan || verb == oneshot.VerbDescribe || verb == oneshot.VerbCheck):
		if err := oneshot.ServeFD(oneshot.RequestFD, helper{}, verb); err != nil {
			return statusFailed // the reason went to the asker
		}
		return 0
	}
	return runHere(verb, rest)
}

func usage() int {
	fmt.Fprintln(os.Stderr, "srt-darwin is started by srt; run srt --help")
	return statusFailed
}

// helper implements wire.Helper.
type helper struct{}

func describe() wire.Description {
	return wire.Description{Version: wire.Version, Name: "srt-darwin", OS: runtime.GOOS, Arch: runtime.GOARCH, Build: commit,
		Features: []string{"seatbelt", wire.VerbWatch, wire.VerbGuard}}
}
