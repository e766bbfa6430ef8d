package run

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/selfcheck"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hangs")
	}
}

func TestCommand(t *testing.T) {
	l := newLab(t)
	before := l.w.Lists()
	var spec winapi.StartSpec
	var token winapi.TokenFacts
	var could, couldElse bool
	l.command = func(p *fake.Proc) uint32 {
		spec, token = p.Spec(), p.Token
		st := sd.Token{User: token.User, Groups: append([]sd.SID{}, token.Groups...), Restricting: token.Restricting, WriteRestricted: true}
		group, _ := l.w.LookupSID(limits.Group)
		st.Groups = append(st.Groups, group)
		could = l.w.May(st, `C:\Users\alice\proj\a.txt`, sd.WriteData)
		couldElse = l.w.May(st, `C:\Users\alice`, sd.ReadData)
		l.w.WriteFile(`C:\Users\alice\proj\.bashrc`)
		return 0xC0000005
	}
	within(t, func() {
		res, err := Command(l.m, request(), streams())
		if err != nil || res.Code != 0xC0000005 || len(res.Warnings) > 0 {
			t.Errorf("%+v, %v", res, err)
		}
		if len(res.Report) != 1 || res.Report[0] != `C:\Users\alice\proj\.bashrc` {
			t.Errorf("report %q", res.Report)
		}
	})
	if !could || couldElse {
		t.Errorf("wrote to the project: %v, read the profile: %v", could, couldElse)
	}
	if spec.Program != `C:\tools\make.exe` || spec.Line != `"C:\tools\make.exe" all` || spec.Dir != `C:\Users\alice\proj` || spec.Desktop == "" {
		t.Errorf("%+v", spec)
	}
	env := strings.Join(spec.Env, "\n")
	for _, want := range []string{"USERNAME=srt-sandbox", "HTTP_PROXY=http://srt:tok@127.0.0.1:60080", "GIT_CONFIG_VALUE_0=openssl", `USERPROFILE=C:\ProgramData\srt-run\`, `TEMP=C:\ProgramData\srt-run\`} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment has no %s:\n%s", want, env)
		}
	}
	l.w.Remove(`C:\Users\alice\proj\.bashrc`)
	if got := l.w.Lists(); !maps.Equal(got, before) {
		t.Errorf("left behind: %v", got)
	}
	if strings.Contains(string(l.store.data), "alice") {
		t.Errorf("the journal still says %s", l.store.data)
	}
}

func TestRefusedBeforeAnythingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *lab, r *wire.LaunchRequest)
		text   string
		code   problem.Code // "" when the refusal is a Fault of its own
	}{
		"no such program": {func(_ *lab, r *wire.LaunchRequest) { r.Command.Argv[0] = "nope" }, `run "nope": not found where the command may look`, ""},
		"a script":        {func(l *lab, r *wire.LaunchRequest) { l.w.WriteFile(`C:\tools\x.py`); r.Command.Argv[0] = "x.py" }, `run "x.py": neither a program (.exe, .com) nor a batch file (.bat, .cmd)`, ""},
		"a proxy outside the range": {func(_ *lab, r *wire.LaunchRequest) { r.Network.ProxyAddr = "127.0.0.1:3128" },
			`reach the proxy "127.0.0.1:3128": the fence lets commands reach 127.0.0.1 on ports 60080-60089 only`, ""},
		"local ports that were not installed": {func(_ *lab, r *wire.LaunchRequest) { r.Network.AllowLocalBinding = true },
			`run "network.allowLocalBinding": the settings say true, the fence was installed with false, and it is one for the whole machine`, problem.Differs},
		"its proxy does not listen": {func(l *lab, _ *wire.LaunchRequest) {
			l.reach = func(a netip.AddrPort) winapi.Errno {
				return map[bool]winapi.Errno{true: 10061, false: 10013}[a.Port() == 60080]
			}
		}, `self-check "fence": a proxy port is not reached: Windows error 10061`, problem.FenceShut},
		"an account that was not installed": {func(_ *lab, r *wire.LaunchRequest) {
			r.Host.Windows = &wire.WindowsHost{SandboxUser: "other", ProxyPortLow: 60080, ProxyPortHigh: 60089}
		},
			`run "windows.sandboxUser": the settings say "other", srt was installed with "srt-sandbox"`, problem.Differs},
		"a sublayer that was not installed": {func(_ *lab, r *wire.LaunchRequest) {
			r.Host.Windows = &wire.WindowsHost{Sublayer: "7c3ce732-08c8-4a59-873c-0b14920faa77", ProxyPortLow: 60080, ProxyPortHigh: 60089}
		}, `run "windows.sublayerGuid": the settings say 7c3ce732-08c8-4a59-873c-0b14920faa77, srt was installed with 6c3ce732-08c8-4a59-873c-0b14920faa77`, problem.Differs},
		"ports that were not installed": {func(_ *lab, r *wire.LaunchRequest) {
			r.Host.Windows = &wire.WindowsHost{ProxyPortLow: 60080, ProxyPortHigh: 60099}
		},
			`run "windows.proxyPortRange": the settings say 60080-60099, srt was installed with 60080-60089`, problem.Differs},
		"descriptors": {func(_ *lab, r *wire.LaunchRequest) { r.Command.PassFDs = []int{5} }, `run: descriptors cannot be handed on by number on Windows`, ""},
		"a working directory on a share": {func(_ *lab, r *wire.LaunchRequest) { r.Command.Dir = `\\s\x` },
			`enter the working directory "\\\\s\\x": path "\\\\s\\x": a network or device path; only folders on a local drive can be guarded`, ""},
		"the fence leaks": {func(l *lab, _ *wire.LaunchRequest) { l.reach = func(netip.AddrPort) winapi.Errno { return 0 } }, `self-check "fence": a loopback port outside the proxy range was reached`, problem.FenceOpen},
		"the fence times out": {func(l *lab, _ *wire.LaunchRequest) {
			l.reach = func(a netip.AddrPort) winapi.Errno {
				return map[bool]winapi.Errno{true: 0, false: 10060}[a.Port() == 60080]
			}
		}, `self-check "fence": a loopback port outside the proxy range was tried and not blocked: Windows error 10060`, problem.FenceOpen},
		"the fence is shut":      {func(l *lab, _ *wire.LaunchRequest) { l.reach = func(netip.AddrPort) winapi.Errno { return 10013 } }, `self-check "fence": a proxy port is not reached: Windows error 10013`, problem.FenceShut},
		"writes are let through": {func(l *lab, _ *wire.LaunchRequest) { l.touch = func(string, string) winapi.Errno { return 0 } }, `self-check "files": to overwrite what only the Users group may change was not refused: it worked`, problem.WriteOpen},
		"removing is let through": {func(l *lab, _ *wire.LaunchRequest) {
			inner := l.touch
			l.touch = func(op, path string) winapi.Errno {
				if op == selfcheck.Remove {
					return 0
				}
				return inner(op, path)
			}
		}, `self-check "files": to remove what only the Users group may change was not refused: it worked`, problem.WriteOpen},
		"the token is only said to be restricted": {func(l *lab, _ *wire.LaunchRequest) {
			l.w.Launch.Lie = func(f *winapi.TokenFacts) { f.Restricting, f.WriteRestricted = nil, false }
		}, `self-check "token": the command's token is not the one that was asked for: it is not write-restricted`, problem.Token},
		"the token keeps privileges": {func(l *lab, _ *wire.LaunchRequest) {
			l.w.Launch.Lie = func(f *winapi.TokenFacts) {
				f.Privileges = []string{"SeChangeNotifyPrivilege", "SeImpersonatePrivilege"}
			}
		}, `self-check "token": the command's token is not the one that was asked for: it has the privileges [SeChangeNotifyPrivilege SeImpersonatePrivilege]`, problem.Token},
		"the logon is of another user": {func(l *lab, _ *wire.LaunchRequest) {
			l.w.Launch.Lie = func(f *winapi.TokenFacts) { f.User = fake.Alice }
		},
			`self-check "token": the command's token is not the one that was asked for: it belongs to S-1-5-21-100-200-300-1001, not to the sandbox account S-1-5-21-100-200-300-1012`, problem.Token},
		"the job lets go": {func(l *lab, _ *wire.LaunchRequest) {
			l.w.Launch.Limits = &winapi.JobSpec{Limits: limits.JobLimits | limits.JobBreakaway, UI: limits.JobUI}
		},
			"make the job: it is not the one that was asked for: a process may leave it", problem.Job},
		"the account is disabled": {func(l *lab, _ *wire.LaunchRequest) {
			l.w.IsElevated = true
			if err := l.w.UserSetFlags(limits.User, limits.AccountFlagsFenceless); err != nil {
				panic(err)
			}
			l.w.IsElevated = false
		}, `start the runner as "srt-sandbox": Windows error 1331`, problem.Logon},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			before := l.w.Lists()
			r := request()
			c.change(l, &r)
			if strings.HasPrefix(name, "a script") {
				before = l.w.Lists()
			}
			within(t, func() {
				_, err := Command(l.m, r, streams())
				if err == nil || err.Error() != c.text {
					t.Errorf("got  %v\nwant %s", err, c.text)
				}
				if c.code != "" && (problem.Of(err) != c.code || problem.Fix(err) == "") {
					t.Errorf("code %s, fix %q", problem.Of(err), problem.Fix(err))
				}
			})
			if l.ran {
				t.Error("the command ran")
			}
			if got := l.w.Lists(); !maps.Equal(got, before) {
				t.Error("something was left behind")
			}
			alone(t, l)
		})
	}
}

// alone says that no process of the account is left.
func alone(t *testing.T, l *lab) {
	t.Helper()
	sid, err := l.w.LookupSID(limits.User)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		left, err := l.w.ProcessesOf(sid)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a process of the account is still there")
}

// TestEveryFailure lets each call of a whole run fail once; nothing may be left that the next run does not take away.
func TestEveryFailure(t *testing.T) {
	for n := 1; n < 400; n++ {
		l := newLab(t)
		before := l.w.Lists()
		l.w.Calls, l.w.FailAt = nil, n
		var err error
		within(t, func() { _, err = Command(l.m, request(), streams()) })
		reached := len(l.w.Calls) >= n
		failed := ""
		if reached {
			failed = l.w.Calls[n-1]
		}
		l.w.Revive()
		alone(t, l)
		if !reached {
			if err != nil {
				t.Fatalf("nothing failed and yet: %v", err)
			}
			if n < 60 {
				t.Fatalf("a run makes %d calls only", n-1)
			}
			return
		}
		if !l.ran && err == nil {
			t.Fatalf("call %d (%s) failed, nothing ran and no error came", n, failed)
		}
		within(t, func() {
			if res, err := Command(l.m, request(), streams()); err != nil || res.Code != 0 {
				t.Fatalf("after call %d (%s) failed: %+v, %v", n, failed, res, err)
			}
		})
		if got := l.w.Lists(); !maps.Equal(got, before) {
			t.Fatalf("after call %d (%s) failed: left behind", n, failed)
		}
	}
	t.Fatal("400 calls and no end")
}

func TestControlReachesTheCommand(t *testing.T) {
	l := newLab(t)
	control := make(chan runas.Message)
	st := streams()
	st.Control = control
	running := make(chan struct{})
	st.Started = func() { close(running) }
	l.command = func(p *fake.Proc) uint32 {
		for range 500 {
			time.Sleep(5 * time.Millisecond)
			if len(l.interrupts()) == 2 {
				return 7
			}
		}
		return 8
	}
	within(t, func() {
		go func() {
			<-running
			control <- runas.Message{Kind: runas.SayCtrlC}
			control <- runas.Message{Kind: runas.SayCtrlBreak}
		}()
		res, err := Command(l.m, request(), st)
		if err != nil || res.Code != 7 {
			t.Errorf("%+v, %v", res, err)
		}
	})
	if got := fmt.Sprint(l.interrupts()); got != "[c break]" {
		t.Errorf("got %s", got)
	}
}

func (l *lab) interrupts() []string { return l.w.InterruptsSoFar() }

func TestCheck(t *testing.T) {
	l := newLab(t)
	within(t, func() {
		items, err := Check(l.m)
		if err != nil || len(items) != 17 {
			t.Errorf("%d items, %v", len(items), err)
		}
		for _, i := range items {
			if i.State != wire.CheckPass {
				t.Errorf("%+v", i)
			}
		}
		l.w.Launch.Lie = func(f *winapi.TokenFacts) { f.WriteRestricted = false }
		items, err = Check(l.m)
		if problem.Of(err) != problem.Token || items[0].State != wire.CheckFail {
			t.Errorf("%v, %v", items, err)
		}
	})
	if l.ran {
		t.Error("a check ran a command")
	}
	alone(t, l)
	l.w.Caller = fake.Bob
	if _, err := Check(l.m); problem.Of(err) != problem.NotAllowed {
		t.Errorf("another user: %v", err)
	}
}

func TestPlanChangesNothing(t *testing.T) {
	l := newLab(t)
	before := l.w.Lists()
	p, err := Plan(l.m, request())
	if err != nil || len(p.Roots) != 1 || len(p.Changes) == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := l.w.Lists(); !maps.Equal(got, before) || l.store.data != nil {
		t.Error("planning changed something")
	}
	if _, err := Plan(Machine{Sys: fake.New()}, request()); problem.Of(err) != problem.NotInstalled {
		t.Errorf("without an installation: %v", err)
	}
	if errors.Is(err, errNoCommand) {
		t.Error("no command")
	}
}

// TestSrtEnds: when srt is gone the command must not go on, and nothing of the run stays on files.
func TestSrtEnds(t *testing.T) {
	for name, c := range map[string]struct {
		before bool // srt ends before the command has started
	}{"while the command runs": {}, "before it has started": {true}} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			lists := l.w.Lists()
			abort := make(chan struct{})
			st := streams()
			st.Abort = abort
			l.command = func(p *fake.Proc) uint32 {
				close(abort)
				<-p.Killed()
				return 0
			}
			if c.before {
				l.command = func(p *fake.Proc) uint32 { <-p.Killed(); return 0 }
				close(abort)
			}
			within(t, func() {
				if _, err := Command(l.m, request(), st); err == nil {
					t.Error("a command whose srt is gone ends well")
				}
			})
			alone(t, l)
			if got := l.w.Lists(); !maps.Equal(got, lists) {
				t.Error("something was left on files")
			}
		})
	}
}

// TestTheInstallationThatTheSettingsDescribe: spelling does not matter, and what is not said fits everything.
func TestTheInstallationThatTheSettingsDescribe(t *testing.T) {
	for _, w := range []wire.WindowsHost{
		{ProxyPortLow: 60080, ProxyPortHigh: 60089},
		{SandboxUser: "SRT-Sandbox", Sublayer: "6C3CE732-08C8-4A59-873C-0B14920FAA77", ProxyPortLow: 60080, ProxyPortHigh: 60089},
	} {
		l := newLab(t)
		r := request()
		r.Host.Windows = &w
		within(t, func() {
			if _, err := Command(l.m, r, streams()); err != nil {
				t.Errorf("%+v: %v", w, err)
			}
		})
	}
}

// TestRecordsOfSrt: a command that may write the user's whole profile may not write the journal in it.
func TestRecordsOfSrt(t *testing.T) {
	l := newLab(t)
	journal := `C:\Users\alice\AppData\Local\srt`
	l.w.WriteFile(journal + `\acl-journal.json`)
	l.w.WriteFile(`C:\Users\alice\AppData\Local\other\x`)
	l.m.Own = []string{journal}
	r := request()
	r.Files.AllowWrite = []wire.PathEntry{{Path: `C:\Users\alice`, Rule: "~"}}
	could := map[string]bool{}
	l.command = func(p *fake.Proc) uint32 {
		group, _ := l.w.LookupSID(limits.Group)
		st := sd.Token{User: p.Token.User, Groups: append(append([]sd.SID{}, p.Token.Groups...), group), Restricting: p.Token.Restricting, WriteRestricted: true}
		for _, path := range []string{journal + `\acl-journal.json`, `C:\Users\alice\AppData\Local\other\x`} {
			could[path] = l.w.May(st, path, sd.WriteData)
		}
		could["move"] = l.w.May(st, journal, sd.Delete)
		could["move what holds it"] = l.w.May(st, `C:\Users\alice\AppData\Local`, sd.Delete)
		could["add"] = l.w.May(st, journal, sd.AppendData)
		return 0
	}
	within(t, func() {
		if _, err := Command(l.m, r, streams()); err != nil {
			t.Error(err)
		}
	})
	want := map[string]bool{journal + `\acl-journal.json`: false, `C:\Users\alice\AppData\Local\other\x`: true, "move": false, "move what holds it": false, "add": false}
	if !maps.Equal(could, want) {
		t.Errorf("the command could %v", could)
	}
}
