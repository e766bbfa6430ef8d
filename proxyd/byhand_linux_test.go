package main

import (
	"flag"
	"os"
	"os/signal"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

var handDebug = flag.Bool("hand-debug", false, "with -hand: show one record per connection")

var byHand = flag.String("hand", "", "serve a proxy that allows these entries, comma-separated, until interrupted:\n"+
	"go test -run TestByHand -v . -args -hand 'example.com,127.0.0.1:8080'")

// TestByHand runs proxyd as srt does and says where its proxy listens, for curl, benchmarks and debuggers.
func TestByHand(t *testing.T) {
	if *byHand == "" {
		return // only with -args -hand ENTRIES
	}
	s := start(t)
	cfg := config(strings.Split(*byHand, ",")...)
	cfg.Debug = *handDebug
	s.say(t, wire.ProxyCommand{Seq: 1, Op: wire.OpConfigure, Config: cfg})
	s.ready(t, 1)
	f, addr := proxytest.Listener(t)
	s.say(t, wire.ProxyCommand{Seq: 2, Op: wire.OpAttach, Attach: &wire.Attach{CommandID: "hand", Listeners: []wire.Listener{{Role: wire.RoleProxy}}}}, f)
	f.Close()
	s.ready(t, 2)
	t.Logf("proxyd %d: http_proxy=http://%s all_proxy=socks5h://%s", s.cmd.Process.Pid, addr, addr)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
}
