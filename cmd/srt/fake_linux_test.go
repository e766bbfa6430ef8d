package main

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// fakeHelper is a helper, bwrap and init in one that makes no sandbox, so that the command line is tested on every machine. What it
// should do beside running the command stands in the command's environment, as FAKE=word.
type fakeHelper struct{}

func (fakeHelper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version, Name: "fake", Features: []string{}}, nil
}

func (fakeHelper) Check(_ context.Context, req wire.CheckRequest) (wire.CheckReport, error) {
	r := wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{
		{Name: "user namespaces", State: wire.CheckPass},
		{Name: "supervisor", State: wire.CheckWeak, Detail: "kernel 5.18", Fix: "use Linux 5.19 or newer"},
	}}
	if _, err := os.Stat(req.Host.Home + "/bubblewrap-is-missing"); err == nil {
		r.Items = append(r.Items, wire.CheckItem{Name: "bubblewrap", State: wire.CheckFail, Detail: "not found", Fix: "apt-get install bubblewrap"})
	}
	return r, nil
}

func (fakeHelper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	plan := wire.LaunchPlan{Version: wire.Version, Argv: append([]string{"/fake/bwrap", "--"}, req.Command.Argv...), Env: []string{}, Dir: "/",
		Descriptors: []wire.Descriptor{}, Mode: "fake", Warnings: []string{}, Notes: []string{"a note"}}
	switch fakeWord(req) {
	case "refuse":
		return plan, &wire.Fault{Code: wire.CodeUnsupported, Op: "make", Path: "user namespace", Detail: "not permitted", Hint: "sysctl something=1"}
	case "warn":
		plan.Warnings = []string{"less than usual"}
	case "die":
		os.Exit(3)
	}
	return plan, nil
}

func fakeWord(req wire.LaunchRequest) string {
	i := slices.IndexFunc(req.Command.Env, func(e string) bool { return strings.HasPrefix(e, "FAKE=") })
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(req.Command.Env[i], "FAKE=")
}

func fakeHelperMain(verb string) int {
	if verb != oneshot.VerbLaunch && verb != entry.VerbEnter {
		if oneshot.ServeFD(oneshot.RequestFD, fakeHelper{}, verb) != nil {
			return 125
		}
		return 0
	}
	conn := os.NewFile(oneshot.RequestFD, "request")
	unix.CloseOnExec(oneshot.RequestFD)
	unix.CloseOnExec(oneshot.ControlFD)
	var req wire.LaunchRequest
	if err := oneshot.ReadRequest(conn, &req); err != nil {
		return 125
	}
	plan, err := fakeHelper{}.Prepare(context.Background(), req)
	oneshot.WriteAnswer(conn, plan, err)
	conn.Close()
	if err != nil {
		return 125
	}
	return fakeInit(req, oneshot.NewChannel(oneshot.ControlFD, wire.MaxControlMessage))
}

func fakeInit(req wire.LaunchRequest, control *oneshot.Channel) int {
	send := func(m wire.ControlMessage, fds ...int) {
		m.Version = wire.Version
		control.Send(m, fds...)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 125
	}
	file, _ := listener.(*net.TCPListener).File()
	send(wire.ControlMessage{Kind: wire.KindListeners, Listeners: []wire.Listener{{Role: wire.RoleProxy}}}, int(file.Fd()))
	env := append(req.Command.Env, "FAKE_PORT="+strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	listener.Close()
	file.Close()
	files := []uintptr{0, 1, 2}
	for _, fd := range req.Command.PassFDs {
		for len(files) <= fd {
			files = append(files, ^uintptr(0))
		}
		unix.CloseOnExec(fd + wire.PassOffset)
		files[fd] = uintptr(fd + wire.PassOffset)
	}
	path, err := lookPath(req.Command.Argv[0], env)
	if err != nil {
		code := wire.CodeNotFound
		if err == unix.EACCES {
			code = wire.CodeNotExec
		}
		send(wire.ControlMessage{Kind: wire.KindFault, Fault: &wire.Fault{Code: code, Op: "run", Path: req.Command.Argv[0], Detail: err.Error()}})
		return 0
	}
	var pidfd int
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &pidfd}
	if req.Command.Foreground {
		attr.Foreground = true
	}
	pid, err := syscall.ForkExec(path, req.Command.Argv, &syscall.ProcAttr{Env: env, Dir: req.Command.Dir, Files: files, Sys: attr})
	if err != nil {
		send(wire.ControlMessage{Kind: wire.KindFault, Fault: &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: req.Command.Argv[0], Detail: err.Error()}})
		return 0
	}
	go func() {
		for n := 0; n <= 0; {
			n, _ = unix.Poll([]unix.PollFd{{Fd: oneshot.ControlFD, Events: unix.POLLIN}}, -1)
		}
		os.Exit(0)
	}()
	send(wire.ControlMessage{Kind: wire.KindStarted}, pidfd)
	if fakeWord(req) == "violate" {
		for _, v := range []wire.Violation{
			{Operation: "file-write", Target: "/etc/passwd", Count: 1, TimeMs: 1},
			{Operation: "file-write", Target: "/etc/passwd", Count: 2, TimeMs: 2},
			{Operation: "file-write", Target: "/etc/\x1b[31mred", Count: 1, TimeMs: 3},
			{Operation: "network-outbound", Target: "example.com:443", Reason: "not on the allow list", Count: 1, TimeMs: 4},
		} {
			send(wire.ControlMessage{Kind: wire.KindViolation, Violation: &v})
		}
		if req.Audit {
			send(wire.ControlMessage{Kind: wire.KindAllowed, Allowed: &wire.Decision{Verdict: wire.VerdictAllow, Operation: "file-write", Target: "/w/new", Count: 7}})
		}
		send(wire.ControlMessage{Kind: wire.KindReport, Report: []string{"/x/.git/hooks/pre-commit"}})
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil); err == unix.EINTR {
			continue
		}
		if !status.Stopped() {
			break
		}
		send(wire.ControlMessage{Kind: wire.KindStopped, Stopped: &wire.Stopped{Signal: int(status.StopSignal())}})
	}
	e := &wire.Exit{Code: max(0, status.ExitStatus())}
	if status.Signaled() {
		e = &wire.Exit{Signal: int(status.Signal())}
	}
	send(wire.ControlMessage{Kind: wire.KindExit, Exit: e})
	return 0
}

func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, unix.Access(name, unix.X_OK)
	}
	var last error = unix.ENOENT
	for _, e := range env {
		if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
			for dir := range strings.SplitSeq(dirs, ":") {
				err := unix.Access(dir+"/"+name, unix.X_OK)
				if err == nil {
					return dir + "/" + name, nil
				}
				if err == unix.EACCES {
					last = err
				}
			}
		}
	}
	return "", last
}

// fakeProxyMain answers each connection with the first allowed domain, or asks first when there is none.
func fakeProxyMain() int {
	ch := oneshot.NewChannel(oneshot.ProxyFD, wire.MaxProxyMessage)
	greeting := make(chan string, 1)
	answers := make(chan bool)
	greeting <- ""
	for {
		var cmd wire.ProxyCommand
		fds, err := ch.Recv(&cmd)
		if err != nil {
			return 0
		}
		switch cmd.Op {
		case wire.OpAnswer:
			answers <- cmd.Answer.Allow
			continue
		case wire.OpConfigure:
			<-greeting
			greeting <- strings.Join(cmd.Config.AllowedDomains, ",")
		case wire.OpAttach:
			l, err := net.FileListener(os.NewFile(uintptr(fds[0]), "listener"))
			if err != nil {
				return 3
			}
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					word := <-greeting
					greeting <- word
					if word == "" {
						ch.Send(wire.ProxyEvent{Version: wire.Version, Kind: wire.EventAsk, Ask: &wire.Ask{ID: 1, Host: "example.com", Port: 8080}})
						word = strconv.FormatBool(<-answers)
					}
					io.WriteString(c, word+"\n")
					c.Close()
				}
			}()
		}
		ch.Send(wire.ProxyEvent{Version: wire.Version, Kind: wire.EventReady, Seq: cmd.Seq})
	}
}
