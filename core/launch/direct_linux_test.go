package launch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
)

// The way of macOS runs on Linux too, with a plan that makes no sandbox.

func runDirectly(t *testing.T, helper string, o Options, argv ...string) (*Run, func() Outcome) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	o.Helper, o.Proxy = fake(t, "helper-"+helper), fake(t, "proxyd-good")
	r, err := begin(o, &direct{})
	if err != nil {
		t.Fatal(err)
	}
	return r, func() Outcome {
		req := request(false, false, argv...)
		req.Host.SessionID = "session"
		for fd := range o.PassFDs {
			req.Command.PassFDs = append(req.Command.PassFDs, fd)
		}
		return r.Wait(req, wire.ProxyConfig{Version: wire.Version})
	}
}

func TestDirectOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   wire.Exit
	}{
		"success":           {"exit 0", wire.Exit{}},
		"an exit status":    {"exit 42", wire.Exit{Code: 42}},
		"later":             {"sleep 0.2; exit 3", wire.Exit{Code: 3}},
		"ended by a signal": {"kill -SEGV $$", wire.Exit{Signal: int(unix.SIGSEGV)}},
	} {
		t.Run(name, func(t *testing.T) {
			var plan wire.LaunchPlan
			_, wait := runDirectly(t, "good", Options{Hooks: Hooks{Plan: func(p wire.LaunchPlan) { plan = p }}}, "/bin/sh", "-c", tc.script)
			out := wait()
			if out.Fault != nil || !out.Started || out.Exit != tc.want || len(plan.Warnings) != 1 {
				t.Errorf("got %+v (%v), plan %+v, want %+v", out, out.Fault, plan, tc.want)
			}
		})
	}
}

func TestMisbehavingPlan(t *testing.T) {
	for behaviour, want := range map[string]string{
		"refuses":                           `plan "/x": no`,
		"dies before the plan":              "the peer ended without an answer",
		"plans nothing":                     "execute the plan: it is empty",
		"plans a descriptor too many":       `execute the plan "pass": it wants a descriptor that nobody has`,
		"plans a control channel":           `execute the plan "control": it wants a descriptor that nobody has`,
		"plans a program that is not there": `execute "/nonexistent/sandbox-exec": no such file or directory`,
	} {
		t.Run(behaviour, func(t *testing.T) {
			_, wait := runDirectly(t, behaviour, Options{}, "/bin/true")
			out := wait()
			if out.Started || out.Fault == nil || !strings.Contains(out.Fault.Error(), want) {
				t.Errorf("got %+v (%v), want %q", out, out.Fault, want)
			}
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
				t.Errorf("a child is left: %d, %v", pid, err)
			}
		})
	}
}

func TestDirectPassesDescriptorsUnderTheirNumber(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, wait := runDirectly(t, "good", Options{PassFDs: map[int]int{7: int(f.Fd())}}, "/bin/sh", "-c", "echo passed >&7")
	if out := wait(); out.Fault != nil || out.Exit.Code != 0 {
		t.Fatalf("got %+v (%v)", out, out.Fault)
	}
	if b, err := os.ReadFile(f.Name()); string(b) != "passed\n" {
		t.Errorf("the command wrote %q, %v", b, err)
	}
}

func TestDirectReadsTheLog(t *testing.T) {
	seen := make(chan string, 4)
	_, wait := runDirectly(t, "good", Options{WatchLog: true, Hooks: Hooks{Violation: func(v wire.Violation) { seen <- v.Target }}},
		"/bin/sleep", "1")
	if out := wait(); out.Fault != nil || out.Exit.Code != 0 {
		t.Fatalf("got %+v (%v)", out, out.Fault)
	}
	if len(seen) != 1 || <-seen != "session" {
		t.Error("the denial did not arrive")
	}
	var notice string
	_, wait = runDirectly(t, "does not watch", Options{WatchLog: true, Hooks: Hooks{Notice: func(text string) { notice = text }}}, "/bin/sleep", "1")
	if out := wait(); out.Fault != nil || notice != "further denials are not listed: the reader of the system's log has ended" {
		t.Errorf("got %+v, notice %q", out, notice)
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

func TestDirectLeavesNoProcessOfTheGroup(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	mark := t.TempDir() + "/alive"
	_, wait := runDirectly(t, "good", Options{}, bash, "-c", "(trap '' TERM HUP; sleep 1; echo >"+mark+") & exit 0")
	if out := wait(); out.Fault != nil {
		t.Fatal(out.Fault)
	}
	time.Sleep(1500 * time.Millisecond)
	if _, err := os.Stat(mark); err == nil {
		t.Error("a background process lived on")
	}
}

func TestDirectEnd(t *testing.T) {
	r, wait := runDirectly(t, "good", Options{}, "/bin/sleep", "3600")
	go func() {
		time.Sleep(200 * time.Millisecond)
		r.End(&wire.Fault{Code: wire.CodePolicy, Op: "read the control channel", Detail: "it ended"})
	}()
	if out := wait(); out.Fault == nil || out.Fault.Error() != "read the control channel: it ended" {
		t.Errorf("got %+v", out)
	}
}

// guardSees runs a command and gives what its guard wrote down, with the command's number as PID.
func guardSees(t *testing.T, behaviour string, o Options, script string) (string, Outcome) {
	t.Helper()
	file := t.TempDir() + "/pid"
	r, wait := runDirectly(t, behaviour, o, "/bin/sh", "-c", "echo $$ >"+file+"; "+script)
	out := wait()
	diary, err := os.ReadFile(filepath.Join(filepath.Dir(r.o.Helper), "guard"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		return string(diary), out
	}
	return strings.ReplaceAll(string(diary), "command "+strings.TrimSpace(string(pid))+"\n", "command PID\n"), out
}

// The guard stands before the command runs, knows it, and is asked to sweep at the end of every run.
func TestDirectGuard(t *testing.T) {
	const whole = "guards " + wire.LinuxTmpDir + "\ncommand PID\nsweeps\n"
	if got, out := guardSees(t, "good", Options{}, "exit 3"); got != whole || out.Exit.Code != 3 {
		t.Errorf("the guard saw %q, outcome %+v", got, out)
	}
	got, out := guardSees(t, "does not guard", Options{}, "exit 3")
	if got != "" || out.Started || out.Fault == nil || !strings.HasSuffix(out.Fault.Error(), "the peer ended without an answer") {
		t.Errorf("without a guard: %q, %+v (%v)", got, out, out.Fault)
	}
	var notice string
	got, out = guardSees(t, "stops guarding", Options{Hooks: Hooks{Notice: func(text string) { notice = text }}}, "sleep 1; exit 3")
	if got != strings.TrimSuffix(whole, "sweeps\n") || out.Exit.Code != 3 || notice != "the guard has ended: if srt is killed, the command goes on" {
		t.Errorf("the guard saw %q, notice %q, outcome %+v", got, notice, out)
	}
	if got, out = guardSees(t, "plans a program that is not there", Options{}, ""); got != "guards "+wire.LinuxTmpDir+"\nsweeps\n" || out.Fault == nil {
		t.Errorf("the guard saw %q, outcome %+v", got, out)
	}
}
