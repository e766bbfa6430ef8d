// Command srt runs a command in a sandbox. It reads the settings, asks core/launch to run the command under them, and says how it
// ended. It must never write to stdout while a command runs (stdout is the command's), never run anything when a setting is in doubt,
// and never look at anything but its own place on disk to find the programs that it starts.
//
// It imports golang.org/x/sys for descriptors and the terminal, and github.com/tailscale/hujson to add one entry to a settings file
// without losing its comments. Its tests import github.com/rogpeppe/go-internal/testscript to type what a user types.
package main

import (
	"os"
	"runtime"

	_ "github.com/srt-dev/srt/core/alone" // srt hardly computes; with more the runtime starts threads and polls while srt waits
)

// version is the release; commit is set by the build.
const version = "0.1.0"

var commit = "unknown"

// The parent-death signal of the sandbox and of proxyd belongs to the thread that starts them, so it must be the one that lives
// as long as srt.
func init() { runtime.LockOSThread() }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if err := sealDescriptors(); err != nil {
		return fail(err)
	}
	if len(args) > 0 && args[0] == "doctor" {
		return doctor(args[1:])
	}
	o, err := parseFlags(args)
	switch {
	case err != nil:
		return fail(err)
	case o.help:
		return show(usage)
	case o.version:
		return show("srt " + version + " (" + commit + ")\n")
	case o.dryRun:
		return dryRun(o)
	}
	return runCommand(o)
}
