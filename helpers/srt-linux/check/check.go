// Package check answers `srt doctor`: it says what this machine has, and runs a small sandbox that is attacked from inside. It is linked
// into srt-linux-rpc only, because what it imports would slow every start. It must never report a protection that it did not try.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/bwrap"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
	"github.com/srt-dev/srt/helpers/srt-linux/selftest"
	"golang.org/x/sys/unix"
)

// checkTimeout bounds the whole trial; a sandbox starts in well under a second.
const checkTimeout = 30 * time.Second

// Helper is plan.Helper with a Check that tries.
type Helper struct{ plan.Helper }

// Check implements wire.Helper: it runs a small sandbox for real and attacks it from inside. The report says FAIL, with what to do,
// when none can be started; the error is for a failure of the check itself.
func (h Helper) Check(ctx context.Context, req wire.CheckRequest) (wire.CheckReport, error) {
	report := wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{}}
	report.Items = append(report.Items, machine(req.Host.BwrapPath)...)
	report.Items = append(report.Items, h.mounts(req.Host.BwrapPath)...)
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	items, err := h.trial(ctx, req.Host)
	var f *wire.Fault
	switch {
	case errors.As(err, &f):
		report.Items = append(report.Items, wire.CheckItem{Name: "a sandbox", State: wire.CheckFail, Detail: strings.TrimPrefix(f.Error(), startOp+": "), Fix: f.Hint})
	case err != nil:
		return wire.CheckReport{}, err
	}
	report.Items = append(report.Items, items...)
	return report, nil
}

// mounts says who makes the mounts here; nothing where there can be no sandbox, which the trial says.
func (h Helper) mounts(bwrapPath string) []wire.CheckItem {
	path, err := entry.Bwrap(bwrapPath)
	if err != nil {
		return nil
	}
	byInit, err := h.InitMayMount(path)
	item := wire.CheckItem{Name: "who makes the mounts", State: wire.CheckPass, Detail: "the init, on descriptors"}
	switch {
	case err != nil:
		return nil
	case !byInit:
		item.State, item.Detail, item.Fix = wire.CheckWeak, bwrap.MountsNote, probe.LetInitMount(path)
	}
	return []wire.CheckItem{item}
}

// trial prepares something to attack, runs the self-test in a sandbox, and returns what it found.
func (h Helper) trial(ctx context.Context, host wire.HostContext) ([]wire.CheckItem, error) {
	dir, err := os.MkdirTemp("", "srt-doctor-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := selftest.Stage{Allowed: dir + "/allowed", Outside: dir + "/outside", Hidden: dir + "/hidden", Pid: os.Getpid(), Abstract: dir}
	for _, d := range []string{s.Allowed, s.Outside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(s.Hidden, []byte("secret\n"), 0o600); err != nil {
		return nil, err
	}
	if err := unix.Mkfifo(s.Outside+"/pipe", 0o600); err != nil {
		return nil, err
	}
	for _, at := range [][2]string{{"unix", s.Allowed + "/host.sock"}, {"unix", "@" + s.Abstract}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			return nil, err
		}
		defer l.Close()
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			s.Port = a.Port
		}
	}
	return h.run(ctx, s, host)
}

func (h Helper) run(ctx context.Context, s selftest.Stage, host wire.HostContext) ([]wire.CheckItem, error) {
	stage, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	p, err := h.Prepare(ctx, trialRequest([]string{h.Self, "selftest", string(stage)}, s, host))
	if err != nil {
		return nil, err
	}
	ours, theirs, err := oneshot.Pair()
	if err != nil {
		return nil, err
	}
	ch := oneshot.NewChannel(ours, wire.MaxControlMessage)
	defer ch.Close()
	control := os.NewFile(uintptr(theirs), "control")
	defer control.Close()
	cmd, stdout, stderr, err := command(ctx, &p, control)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, &wire.Fault{Code: wire.CodeUnsupported, Op: "start", Path: p.Argv[0], Detail: err.Error()}
	}
	control.Close()
	fault := listen(ch)
	err = cmd.Wait()
	if fault != nil {
		return nil, fault
	}
	var items []wire.CheckItem
	if json.Unmarshal(stdout.Bytes(), &items) != nil {
		return nil, diagnose(p.Argv[0], strings.TrimSpace(stderr.String()), err)
	}
	return items, nil
}

// listen takes the init's messages to their end and returns the fault among them, if any.
func listen(ch *oneshot.Channel) *wire.Fault {
	var fault *wire.Fault
	for {
		var m wire.ControlMessage
		fds, err := ch.Recv(&m)
		if err != nil {
			return fault
		}
		if m.Kind == wire.KindListeners {
			defer oneshot.CloseAll(fds) // open until the end, so that the sandbox's proxy address answers
		} else {
			oneshot.CloseAll(fds)
		}
		if m.Fault != nil {
			fault = m.Fault
		}
	}
}

// command makes the process of a plan, with its descriptors in their places.
func command(ctx context.Context, p *wire.LaunchPlan, control *os.File) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer, err error) {
	cmd = exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Env, cmd.Dir = p.Env, p.Dir
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	files := map[int]*os.File{}
	top := 2
	for _, d := range p.Descriptors {
		top = max(top, d.Number)
		switch d.Kind {
		case wire.FDControl:
			files[d.Number] = control
		case wire.FDData:
			if files[d.Number], err = oneshot.SealedFile(d.Data); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	for n := 3; n <= top; n++ {
		cmd.ExtraFiles = append(cmd.ExtraFiles, files[n])
	}
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	return cmd, stdout, stderr, nil
}

func trialRequest(argv []string, s selftest.Stage, host wire.HostContext) wire.LaunchRequest {
	entry := func(p string) []wire.PathEntry { return []wire.PathEntry{{Path: p, Rule: "srt doctor"}} }
	return wire.LaunchRequest{
		Version:   wire.Version,
		CommandID: "doctor",
		Command:   wire.Command{Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/"},
		Files: wire.FilePolicy{
			AllowWrite: entry(s.Allowed), DenyRead: entry(s.Hidden), ScanDepth: 1,
			Protected: []wire.Protected{{Name: ".bashrc", Reason: "srt doctor"}, {Name: ".vscode", Dir: true, Reason: "srt doctor"}},
		},
		Network: wire.NetPolicy{ProxyAddr: wire.LinuxProxyAddr},
		Host:    host,
	}
}
