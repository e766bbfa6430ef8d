// Command proxyd-rpc is proxyd for a session: srt talks to it over go-plugin and hands it listeners over the socket pair that it inherits.
// All the rest is proxyd; it is a program of its own because go-plugin would slow the start of every single command.
package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/srt-dev/srt/core/pluginrpc"
	"github.com/srt-dev/srt/proxyd/channel"
	"github.com/srt-dev/srt/proxyd/harden"
)

func init() { runtime.LockOSThread() } // the parent-death signal belongs to a thread

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) != 1 || args[0] != pluginrpc.VerbServe {
		fmt.Fprintln(os.Stderr, "proxyd-rpc: error: proxyd-rpc is started by a session of srt")
		return 2
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	err := harden.Process()
	if err == nil {
		err = pluginrpc.ServeProxy(func(w pluginrpc.Words) error { return channel.ServeSession(w, pluginrpc.ChannelFD, log) })
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "proxyd-rpc: error: %v\n", err)
		return 1
	}
	return 0
}
