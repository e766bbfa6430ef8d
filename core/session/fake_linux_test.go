package session

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/pluginrpc"
	"github.com/srt-dev/srt/core/wire"
)

func init() { runtime.LockOSThread() } // go-plugin's servers want the main thread

// The fake peers and the fake init are this test binary under another name: their environment is built, so the name is all that a test
// can tell them.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case name == "fake-init":
		fakeInit(os.Args[1], os.Args[2])
	case strings.HasPrefix(name, "fake-helper"):
		end(pluginrpc.ServeHelper(fakeHelper{}))
	case strings.HasPrefix(name, "fake-proxyd"):
		end(pluginrpc.ServeProxy(fakeProxyd))
	case strings.HasPrefix(name, "fake-dead"):
		os.Exit(7)
	}
	os.Exit(m.Run())
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	os.Exit(0)
}

// fakes makes the fake programs and gives their directory.
func fakes(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"fake-init", "fake-helper", "fake-proxyd", "fake-dead"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fakeHelper plans what the request's first word says.
type fakeHelper struct{}

func (fakeHelper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version}, nil
}

func (fakeHelper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{{Name: "fake", State: wire.CheckPass}}}, nil
}

func (fakeHelper) Prepare(ctx context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	init := filepath.Join(filepath.Dir(os.Args[0]), "fake-init")
	plan := wire.LaunchPlan{Version: wire.Version, Argv: append([]string{init}, req.Command.Argv...), Env: []string{}, Dir: "/", Warnings: []string{}, Notes: []string{},
		Descriptors: []wire.Descriptor{{Number: 4, Kind: wire.FDControl}, {Number: 5, Kind: wire.FDData, Data: []byte("data of " + req.CommandID)}}}
	switch req.Command.Argv[0] {
	case "refused":
		return wire.LaunchPlan{}, &wire.Fault{Code: wire.CodePolicy, Op: "plan", Path: "/x", Detail: "no", Hint: "yes"}
	case "never planned":
		<-ctx.Done()
		time.Sleep(time.Hour)
	case "no program":
		plan.Argv = []string{}
	case "a relative program":
		plan.Argv[0] = "fake-init"
	case "a program that is missing":
		plan.Argv[0] = "/no/such/program"
	case "no control channel":
		plan.Descriptors = plan.Descriptors[1:]
	case "two control channels":
		plan.Descriptors[1].Kind = wire.FDControl
	case "a descriptor twice":
		plan.Descriptors[1].Number = 4
	case "a standard stream":
		plan.Descriptors[1].Number = 2
	case "a descriptor far away":
		plan.Descriptors[1].Number = 1 << 20
	case "a descriptor of an unknown kind":
		plan.Descriptors[1].Kind = "?"
	case "a file that nobody gave":
		plan.Descriptors[1].Kind = wire.FDPass
	}
	return plan, nil
}

// fakeProxyd answers each connection with the domains that it was told of. With a command's end it tells one more refusal.
func fakeProxyd(w pluginrpc.Words) error {
	var allowed, own atomic.Value
	allowed.Store("")
	own.Store("")
	join := func(l *wire.NetLists) string {
		if l == nil {
			return "none"
		}
		return strings.Join(l.AllowedDomains, ",")
	}
	send := func(e wire.ProxyEvent) {
		e.Version = wire.Version
		b, _ := wire.Encode(e)
		_ = w.Send(b)
	}
	obey := func(cmd wire.ProxyCommand, fds []int) {
		ready := wire.ProxyEvent{Kind: wire.EventReady, Seq: cmd.Seq}
		switch cmd.Op {
		case wire.OpConfigure:
			if d := strings.Join(cmd.Config.AllowedDomains, ","); d != "bad" {
				allowed.Store(d)
			} else {
				ready.Fault = &wire.Fault{Code: wire.CodePolicy, Op: "parse", Path: "bad", Detail: "not a domain"}
			}
		case wire.OpAttach:
			own.Store(join(cmd.Attach.Lists))
			if own.Load() == "die" {
				os.Exit(3)
			}
			if own.Load() == "refuse" {
				ready.Fault = &wire.Fault{Code: wire.CodePolicy, Op: "attach command", Detail: "not these lists"}
				break
			}
			l, err := net.FileListener(os.NewFile(uintptr(fds[0]), "listener"))
			if err != nil {
				os.Exit(4)
			}
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					fmt.Fprintf(c, "%s %s\n", allowed.Load(), own.Load())
					c.Close()
				}
			}()
		case wire.OpAssign:
			own.Store(join(cmd.Assign.Lists))
		case wire.OpDetach:
			send(wire.ProxyEvent{Kind: wire.EventViolation, Violation: &wire.Violation{CommandID: cmd.Detach, Target: "last", Count: 1}})
		case wire.OpAnswer:
			return
		}
		send(ready)
	}
	ch := oneshot.NewChannel(pluginrpc.ChannelFD, wire.MaxProxyMessage)
	go func() {
		for {
			var cmd wire.ProxyCommand
			fds, err := ch.Recv(&cmd)
			if err != nil {
				return
			}
			obey(cmd, fds)
		}
	}()
	for {
		b, err := w.Recv()
		if err != nil {
			return nil
		}
		var cmd wire.ProxyCommand
		if err := wire.Decode(b, wire.MaxProxyMessage, &cmd); err != nil {
			return err
		}
		obey(cmd, nil)
	}
}

// fakeInit runs script in a shell as the command, and says what behaviour wants.
func fakeInit(behaviour, script string) {
	ch := oneshot.NewChannel(4, wire.MaxControlMessage)
	unix.CloseOnExec(4)
	say := func(m wire.ControlMessage, fds ...int) {
		m.Version = wire.Version
		_ = ch.Send(m, fds...)
	}
	if data, err := io.ReadAll(os.NewFile(5, "data")); err != nil || !strings.HasPrefix(string(data), "data of ") {
		os.Exit(9)
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		os.Exit(9)
	}
	f, _ := l.File()
	listeners := wire.ControlMessage{Kind: wire.KindListeners, Listeners: []wire.Listener{{Role: wire.RoleProxy}}}
	switch behaviour {
	case "ends at once":
		os.Exit(1)
	case "says that it cannot":
		say(wire.ControlMessage{Kind: wire.KindFault, Fault: &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: script, Detail: "command not found"}})
		os.Exit(0)
	case "says an unknown word":
		say(wire.ControlMessage{Kind: "hello"})
	case "says rubbish":
		_ = unix.Sendto(4, []byte("panic"), 0, nil)
	case "starts without a descriptor":
		say(wire.ControlMessage{Kind: wire.KindStarted})
	case "starts with something else":
		say(wire.ControlMessage{Kind: wire.KindStarted}, 5)
	case "ends before the start":
		say(wire.ControlMessage{Kind: wire.KindExit, Exit: &wire.Exit{}})
	case "fewer descriptors than listeners":
		say(wire.ControlMessage{Kind: wire.KindListeners, Listeners: []wire.Listener{{Role: wire.RoleProxy}, {Role: wire.RoleProxy}}}, int(f.Fd()))
	default:
		say(listeners, int(f.Fd()))
	}
	x := exec.Command("/bin/sh", "-c", script)
	x.Stdin, x.Stdout, x.Stderr = os.Stdin, os.Stdout, os.Stderr
	x.Env = []string{"PATH=/usr/bin:/bin", fmt.Sprint("PORT=", l.Addr().(*net.TCPAddr).Port)}
	x.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := x.Start(); err != nil {
		os.Exit(9)
	}
	pidfd, err := unix.PidfdOpen(x.Process.Pid, 0)
	if err != nil {
		os.Exit(9)
	}
	say(wire.ControlMessage{Kind: wire.KindStarted}, pidfd)
	go func() {
		var m wire.ControlMessage
		_, _ = ch.Recv(&m) // srt's end is closed
		_ = syscall.Kill(-x.Process.Pid, syscall.SIGKILL)
		os.Exit(0)
	}()
	_ = x.Wait()
	switch behaviour {
	case "listens twice":
		say(listeners, int(f.Fd()))
	case "never says how it ended":
		os.Exit(0)
	case "tells much":
		for i := range 200 {
			say(wire.ControlMessage{Kind: wire.KindViolation, Violation: &wire.Violation{CommandID: "forged", Target: fmt.Sprint(i), Count: 1}})
		}
		say(wire.ControlMessage{Kind: wire.KindAllowed, Allowed: &wire.Decision{CommandID: "forged", Verdict: wire.VerdictAllow, Target: "made", Count: 1}})
		say(wire.ControlMessage{Kind: wire.KindReport, Report: []string{"left"}})
	}
	say(wire.ControlMessage{Kind: wire.KindExit, Exit: &wire.Exit{Code: max(0, x.ProcessState.ExitCode())}})
	switch behaviour {
	case "goes on after the end":
		say(wire.ControlMessage{Kind: wire.KindReport, Report: []string{"more"}})
	case "stays after the end":
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}
