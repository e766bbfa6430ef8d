// Command proxyd is the only process of srt that opens outside connections. It serves the listening sockets of sandboxed commands, judges
// every destination by srt's configuration, and reports. srt starts it with one end of a socket pair as descriptor 3 (on Windows:
// with pipes as standard streams) and no environment; it ends when that channel does. It must never read a settings file, an environment variable, or a path that a command could choose.
package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/srt-dev/srt/proxyd/breadth"
	"github.com/srt-dev/srt/proxyd/channel"
	"github.com/srt-dev/srt/proxyd/harden"
)

// channelFD is where srt leaves the channel.
const channelFD = 3

func init() { runtime.LockOSThread() } // the parent-death signal belongs to a thread

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	err := harden.Environment() // GODEBUG, SSL_CERT_FILE, RES_OPTIONS, …: whoever sets them must not steer us
	if len(args) > 0 {
		fmt.Fprintln(os.Stderr, "proxyd: error: proxyd takes no arguments; srt starts it")
		return 2
	}
	breadth.Narrow()
	if err == nil {
		err = harden.Process()
	}
	if err == nil {
		err = harden.DieWithParent()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "proxyd: error: %v\n", err)
		return 1
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if err := channel.Serve(channelFD, log); err != nil {
		fmt.Fprintf(os.Stderr, "proxyd: error: %v\n", err)
		return 1
	}
	return 0
}
