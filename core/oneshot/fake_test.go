//go:build linux || darwin

package oneshot

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

// The fake peers are this test binary under another name: the environment is built for a peer, so the name is all that a test can
// tell it.
func TestMain(m *testing.M) {
	if name, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "fake-"); ok {
		behave(name)
		os.Exit(0)
	}
	for fd := 3; fd < 300; fd++ { // as srt does at its start
		unix.CloseOnExec(fd)
	}
	os.Exit(m.Run())
}

// fake gives the path of a peer that behaves as name says.
func fake(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fake-"+name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func behave(name string) {
	switch {
	case strings.HasPrefix(name, "proxyd-"):
		behaveAsProxy(strings.TrimPrefix(name, "proxyd-"))
		return
	case name == "good":
		os.Exit(boolStatus(ServeFD(RequestFD, selfDescribing{}, os.Args[1]) == nil))
	}
	conn := os.NewFile(RequestFD, "request")
	if name == "crashes at once" {
		os.Exit(3)
	}
	if _, _, err := readFrame(conn); err != nil {
		os.Exit(4)
	}
	if name == "hangs in the middle" {
		conn.Write([]byte{kindAnswer, 0, 0, 0, 9, 'x'})
		time.Sleep(time.Hour)
	}
	does, ok := peertest.Helper(name)
	if !ok {
		os.Exit(6)
	}
	conn.Write(does.Answer)
	does.Then.Do(os.Exit)
}

func boolStatus(ok bool) int {
	if ok {
		return 0
	}
	return 125
}

func fakeDescription() wire.Description {
	return wire.Description{Version: wire.Version, Name: "fake", Features: []string{}}
}

// selfDescribing tells what it inherited.
type selfDescribing struct{ fakeHelper }

func (selfDescribing) Describe(context.Context) (wire.Description, error) {
	d := fakeDescription()
	d.Features = append(d.Features, "env="+strings.Join(os.Environ(), " "), "args="+strings.Join(os.Args[1:], " "), "fds="+openDescriptors())
	in, err := io.ReadAll(os.Stdin)
	d.Features = append(d.Features, fmt.Sprintf("stdin=%q,%v", in, err))
	if sid, err := unix.Getsid(0); err == nil && sid == unix.Getpid() {
		d.Features = append(d.Features, "own session")
	}
	return d, nil
}

// openDescriptors lists what this process inherited: what the Go runtime opened itself does not count.
func openDescriptors() string {
	var open []string
	for fd := range 300 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && (flags&unix.FD_CLOEXEC == 0 || fd == RequestFD) {
			open = append(open, strconv.Itoa(fd))
		}
	}
	return strings.Join(open, ",")
}

func behaveAsProxy(name string) {
	ch := NewChannel(ProxyFD, wire.MaxProxyMessage)
	ready := func(cmd wire.ProxyCommand) {
		e := wire.ProxyEvent{Version: wire.Version, Kind: wire.EventReady, Seq: cmd.Seq}
		if cmd.Config != nil && slices.Contains(cmd.Config.AllowedDomains, "bad") {
			e.Fault = &wire.Fault{Code: wire.CodePolicy, Op: "parse", Path: "bad", Detail: "not a domain"}
		}
		ch.Send(e)
	}
	for {
		var cmd wire.ProxyCommand
		fds, err := ch.Recv(&cmd)
		if err != nil {
			os.Exit(0)
		}
		switch name {
		case "good":
			switch {
			case cmd.Op == wire.OpConfigure && cmd.ConfigFD && len(fds) == 1:
				b, err := io.ReadAll(os.NewFile(uintptr(fds[0]), "config"))
				var cfg wire.ProxyConfig
				if err == nil && wire.Decode(b, wire.MaxProxyConfig, &cfg) == nil {
					violation(ch, fmt.Sprintf("%d domains", len(cfg.AllowedDomains)))
				}
			case cmd.Op == wire.OpAttach:
				violation(ch, fmt.Sprintf("%d listeners, %d descriptors", len(cmd.Attach.Listeners), len(fds)))
			case cmd.Op == wire.OpAnswer:
				violation(ch, fmt.Sprintf("answer %d %v", cmd.Answer.ID, cmd.Answer.Allow))
				continue
			}
			ready(cmd)
			CloseAll(fds)
		case "answers everything":
			for seq := range uint64(9) {
				ch.Send(wire.ProxyEvent{Version: wire.Version, Kind: wire.EventReady, Seq: seq})
			}
		default:
			says, then, ok := peertest.Proxy(name)
			if !ok {
				os.Exit(6)
			}
			unix.SetsockoptInt(ProxyFD, unix.SOL_SOCKET, unix.SO_SNDBUF, 4*wire.MaxProxyMessage)
			for _, b := range says {
				ch.send(b, nil)
			}
			then.Do(os.Exit)
		}
	}
}

func violation(ch *Channel, target string) {
	ch.Send(wire.ProxyEvent{Version: wire.Version, Kind: wire.EventViolation, Violation: &wire.Violation{Target: target, Count: 1}})
}
