package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// Everything but the code under test is this test binary under another name: fake-srt (a CLI around Run), fake-helper-BEHAVIOUR
// (helper, bwrap and init in one, without a sandbox) and fake-proxyd-BEHAVIOUR.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case name == "fake-srt":
		runtime.LockOSThread()
		os.Exit(fakeSrt(os.Args[1], os.Args[2], os.Args[3:]))
	case strings.HasPrefix(name, "fake-helper-"):
		fakeHelper(strings.TrimPrefix(name, "fake-helper-"))
		os.Exit(0)
	case strings.HasPrefix(name, "fake-proxyd-"):
		fakeProxy(strings.TrimPrefix(name, "fake-proxyd-"))
		os.Exit(0)
	}
	for fd := 3; fd < 300; fd++ { // as srt does at its start
		unix.CloseOnExec(fd)
	}
	os.Exit(m.Run())
}

// fake gives the path of this test binary under another name.
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

// fakeSrt does what cmd/srt does around a Run.
func fakeSrt(helper, proxy string, argv []string) int {
	if len(argv) == 2 && argv[1] == "ignored" {
		fmt.Println(IgnoredSignals())
		return 0
	}
	r, err := Begin(Options{Helper: helper, Proxy: proxy, Hooks: Hooks{
		Notice:    func(text string) { fmt.Fprintln(os.Stderr, "notice:", text) },
		Violation: func(v wire.Violation) { fmt.Fprintln(os.Stderr, "violation:", v.Target) },
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "begin:", err)
		return 125
	}
	attached, foreground := r.Terminal()
	out := r.Wait(request(attached, foreground, argv...), wire.ProxyConfig{Version: wire.Version})
	switch {
	case out.Fault != nil:
		fmt.Fprintln(os.Stderr, "fault:", out.Fault)
		return 125
	case out.Signal != 0:
		return 128 + out.Signal
	case out.Exit.Signal != 0:
		return 128 + out.Exit.Signal
	}
	return out.Exit.Code
}

func request(attached, foreground bool, argv ...string) wire.LaunchRequest {
	none := []wire.PathEntry{}
	return wire.LaunchRequest{Version: wire.Version, CommandID: "id",
		Command: wire.Command{Argv: argv, Env: os.Environ(), Dir: "/", Terminal: attached, Foreground: foreground, PassFDs: []int{},
			IgnoredSignals: IgnoredSignals()},
		Files:   wire.FilePolicy{DenyRead: none, AllowRead: none, AllowWrite: none, DenyWrite: none, Protected: []wire.Protected{}},
		Network: wire.NetPolicy{Mirrors: []string{}},
		Process: wire.ProcPolicy{AllowUnixSockets: none, AllowMachLookup: []string{}}}
}

type planner struct {
	wire.Helper
	behaviour string
}

// Prepare plans to execute the command as it is.
func (p planner) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	plan := wire.LaunchPlan{Version: wire.Version, Argv: req.Command.Argv, Env: req.Command.Env, Dir: req.Command.Dir, Descriptors: []wire.Descriptor{},
		NewSession: !req.Command.Terminal, Warnings: []string{"fake"}, Notes: []string{}}
	for _, fd := range req.Command.PassFDs {
		plan.Descriptors = append(plan.Descriptors, wire.Descriptor{Number: fd, Kind: wire.FDPass})
	}
	switch p.behaviour {
	case "refuses":
		return plan, &wire.Fault{Code: wire.CodePolicy, Op: "plan", Path: "/x", Detail: "no"}
	case "plans nothing":
		plan.Argv = []string{}
	case "plans a descriptor too many":
		plan.Descriptors = []wire.Descriptor{{Number: 9, Kind: wire.FDPass}}
	case "plans a control channel":
		plan.Descriptors = []wire.Descriptor{{Number: 4, Kind: wire.FDControl}}
	case "plans a program that is not there":
		plan.Argv = []string{"/nonexistent/sandbox-exec"}
	case "dies before the plan":
		os.Exit(4)
	}
	return plan, nil
}

// fakeWatch reports one denial and then waits for the end.
func fakeWatch(behaviour string, conn *os.File, control *oneshot.Channel) {
	var req wire.WatchRequest
	if oneshot.ReadRequest(conn, &req) != nil || behaviour == "does not watch" {
		os.Exit(3)
	}
	oneshot.WriteAnswer(conn, wire.Description{Version: wire.Version, Features: []string{}}, nil)
	control.Send(wire.ControlMessage{Version: wire.Version, Kind: wire.KindViolation, Violation: &wire.Violation{Target: req.SessionID, Count: 1}})
	var m wire.ControlMessage
	control.Recv(&m)
}

// fakeGuard keeps a diary beside itself.
func fakeGuard(behaviour string, conn *os.File, control *oneshot.Channel) {
	diary, err := os.OpenFile(filepath.Join(filepath.Dir(os.Args[0]), "guard"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	var req wire.GuardRequest
	if err != nil || oneshot.ReadRequest(conn, &req) != nil || behaviour == "does not guard" {
		os.Exit(3)
	}
	fmt.Fprintln(diary, "guards", req.TmpDir)
	oneshot.WriteAnswer(conn, wire.Description{Version: wire.Version, Features: []string{}}, nil)
	var m wire.GuardMessage
	for {
		if _, err := control.Recv(&m); err != nil {
			break
		}
		fmt.Fprintln(diary, "command", m.Pid)
		if behaviour == "stops guarding" {
			os.Exit(3)
		}
	}
	fmt.Fprintln(diary, "sweeps")
}

// fakeHelper answers, and then behaves as an init would; without a sandbox, so that the tests run anywhere.
func fakeHelper(behaviour string) {
	conn := os.NewFile(oneshot.RequestFD, "request")
	unix.CloseOnExec(oneshot.RequestFD)
	unix.CloseOnExec(oneshot.ControlFD)
	control := oneshot.NewChannel(oneshot.ControlFD, wire.MaxControlMessage)
	switch os.Args[1] {
	case oneshot.VerbPlan:
		oneshot.ServeFD(oneshot.RequestFD, planner{behaviour: behaviour}, os.Args[1])
		return
	case oneshot.VerbCheck:
		report := wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{{Name: "bubblewrap", State: wire.CheckPass}}}
		if behaviour == "knows why" {
			report.Items = append(report.Items, wire.CheckItem{Name: "a sandbox", State: wire.CheckFail, Detail: "no namespaces here", Fix: "allow them"})
		}
		oneshot.WriteAnswer(conn, report, nil)
		return
	case wire.VerbWatch:
		fakeWatch(behaviour, conn, control)
		return
	case wire.VerbGuard:
		fakeGuard(behaviour, conn, control)
		return
	}
	var req wire.LaunchRequest
	if err := oneshot.ReadRequest(conn, &req); err != nil {
		os.Exit(3)
	}
	switch behaviour {
	case "dies before the plan":
		os.Exit(4)
	case "refuses":
		oneshot.WriteAnswer(conn, nil, &wire.Fault{Code: wire.CodePolicy, Op: "plan", Path: "/x", Detail: "no"})
		os.Exit(125)
	case "never answers":
		time.Sleep(time.Hour)
	}
	plan, _ := planner{}.Prepare(context.Background(), req)
	oneshot.WriteAnswer(conn, plan, nil)
	conn.Close()
	send := func(m wire.ControlMessage, fds ...int) {
		m.Version = wire.Version
		if err := control.Send(m, fds...); err != nil {
			os.Exit(5)
		}
	}
	null, _ := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	exit := wire.ControlMessage{Kind: wire.KindExit, Exit: &wire.Exit{Code: 7}}
	switch behaviour {
	case "dies after the plan":
		os.Exit(6)
	case "dies and leaves a child that holds the channel":
		closed := ^uintptr(0)
		syscall.ForkExec("/bin/sleep", []string{"sleep", "3600"}, &syscall.ProcAttr{Files: []uintptr{closed, closed, closed, closed, oneshot.ControlFD}})
		os.Exit(6)
	case "never starts":
		time.Sleep(time.Hour)
	case "finds no command":
		send(wire.ControlMessage{Kind: wire.KindFault, Fault: &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: "x", Detail: "not found"}})
		return
	case "speaks rubbish":
		unix.Sendmsg(oneshot.ControlFD, []byte("oops"), nil, nil, 0)
		time.Sleep(time.Hour)
	case "exits before it starts":
		send(exit)
		time.Sleep(time.Hour)
	case "starts without a pidfd":
		send(wire.ControlMessage{Kind: wire.KindStarted})
		time.Sleep(time.Hour)
	case "starts with another descriptor":
		send(wire.ControlMessage{Kind: wire.KindStarted}, null)
		time.Sleep(time.Hour)
	case "sends a descriptor too many":
		send(wire.ControlMessage{Kind: wire.KindListeners, Listeners: []wire.Listener{{Role: wire.RoleProxy}}}, null, null)
		time.Sleep(time.Hour)
	case "sends descriptors with a violation":
		send(wire.ControlMessage{Kind: wire.KindViolation, Violation: &wire.Violation{Target: "/x", Count: 1}}, null)
		time.Sleep(time.Hour)
	case "invents a kind":
		send(wire.ControlMessage{Kind: "hello"})
		time.Sleep(time.Hour)
	}
	fakeInit(behaviour, req, control, send)
}

// fakeInit runs the command in a process group of its own.
func fakeInit(behaviour string, req wire.LaunchRequest, control *oneshot.Channel, send func(wire.ControlMessage, ...int)) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(7)
	}
	file, _ := listener.(*net.TCPListener).File()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	send(wire.ControlMessage{Kind: wire.KindListeners, Listeners: []wire.Listener{{Role: wire.RoleProxy}}}, int(file.Fd()))
	file.Close()
	argv := req.Command.Argv
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "@PORT@", port)
	}
	var pidfd int
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &pidfd}
	if req.Command.Foreground {
		attr.Foreground, attr.Ctty = true, 0
	}
	signal.Ignore(unix.SIGTTOU)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: req.Command.Env, Files: []uintptr{0, 1, 2}, Sys: attr})
	if err != nil {
		send(wire.ControlMessage{Kind: wire.KindFault, Fault: &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: argv[0], Detail: err.Error()}})
		os.Exit(0)
	}
	if behaviour == "lives without srt" {
		unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	}
	go func() { // srt's end of the channel ends the sandbox
		for n := 0; n <= 0; { // the Go runtime interrupts it
			n, _ = unix.Poll([]unix.PollFd{{Fd: oneshot.ControlFD, Events: unix.POLLIN}}, -1)
		}
		unix.Kill(-pid, unix.SIGKILL)
		os.Exit(0)
	}()
	send(wire.ControlMessage{Kind: wire.KindStarted}, pidfd)
	switch behaviour {
	case "starts twice":
		send(wire.ControlMessage{Kind: wire.KindStarted}, pidfd)
	case "closes the channel":
		control.Shutdown()
		time.Sleep(time.Hour)
	case "dies while the command runs":
		os.Exit(9)
	}
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil); errors.Is(err, unix.EINTR) {
			continue
		}
		if status.Stopped() {
			send(wire.ControlMessage{Kind: wire.KindStopped, Stopped: &wire.Stopped{Signal: int(status.StopSignal())}})
			continue
		}
		e := &wire.Exit{Code: status.ExitStatus()}
		if status.Signaled() {
			e = &wire.Exit{Signal: int(status.Signal())}
		}
		send(wire.ControlMessage{Kind: wire.KindExit, Exit: e})
		break
	}
	if behaviour == "stays after the end" {
		control.Close()
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

// fakeProxy answers each connection with one line.
func fakeProxy(behaviour string) {
	ch := oneshot.NewChannel(oneshot.ProxyFD, wire.MaxProxyMessage)
	refusal := wire.ProxyEvent{Version: wire.Version, Kind: wire.EventViolation, Violation: &wire.Violation{Target: "example.com:80", Count: 1}}
	var greeting atomic.Value
	greeting.Store("hello\n")
	for {
		var cmd wire.ProxyCommand
		fds, err := ch.Recv(&cmd)
		if err != nil {
			os.Exit(0)
		}
		ready := wire.ProxyEvent{Version: wire.Version, Kind: wire.EventReady, Seq: cmd.Seq}
		switch {
		case behaviour == "refuses" && cmd.Op == wire.OpConfigure:
			ready.Fault = &wire.Fault{Code: wire.CodePolicy, Op: "parse", Path: "bad", Detail: "not a domain"}
		case cmd.Op == wire.OpConfigure && len(cmd.Config.AllowedDomains) > 0:
			greeting.Store(cmd.Config.AllowedDomains[0] + "\n")
		case behaviour == "tells late" && cmd.Op == wire.OpDetach:
			time.Sleep(100 * time.Millisecond)
			ch.Send(refusal)
		case behaviour == "never answers" && cmd.Op == wire.OpDetach:
			time.Sleep(time.Hour)
		case cmd.Op == wire.OpAttach:
			l, err := net.FileListener(os.NewFile(uintptr(fds[0]), "listener"))
			if err != nil {
				os.Exit(3)
			}
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					if behaviour == "dies of a connection" {
						os.Exit(4)
					}
					io.WriteString(c, greeting.Load().(string))
					if behaviour != "tells late" {
						ch.Send(refusal)
					}
					c.Close()
				}
			}()
		}
		ch.Send(ready)
	}
}
