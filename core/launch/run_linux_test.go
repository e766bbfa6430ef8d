package launch

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
)

// runWith runs argv with a helper and a proxyd of the given behaviours.
func runWith(t *testing.T, helper, proxy string, hooks Hooks, argv ...string) (*Run, func() Outcome) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r, err := Begin(Options{Helper: fake(t, "helper-"+helper), Proxy: fake(t, "proxyd-"+proxy), Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	return r, func() Outcome {
		attached, foreground := r.Terminal()
		return r.Wait(request(attached, foreground, argv...), wire.ProxyConfig{Version: wire.Version, AllowedDomains: []string{}, DeniedDomains: []string{},
			DeniedDomainReasons: map[string]string{}, DeniedResolvedAddresses: []string{}})
	}
}

func TestOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   wire.Exit
	}{
		"success":               {"true", wire.Exit{}},
		"an exit status":        {"exit 42", wire.Exit{Code: 42}},
		"ended by a signal":     {"kill -SEGV $$", wire.Exit{Signal: int(unix.SIGSEGV)}},
		"ended by SIGKILL":      {"kill -KILL $$", wire.Exit{Signal: int(unix.SIGKILL)}},
		"a status of 128 and N": {"exit 143", wire.Exit{Code: 143}},
	} {
		t.Run(name, func(t *testing.T) {
			var plan wire.LaunchPlan
			_, wait := runWith(t, "good", "good", Hooks{Plan: func(p wire.LaunchPlan) { plan = p }}, "/bin/sh", "-c", tc.script)
			out := wait()
			if out.Fault != nil || !out.Started || out.Exit != tc.want {
				t.Errorf("got %+v (%v), want %+v", out, out.Fault, tc.want)
			}
			if len(plan.Warnings) != 1 {
				t.Errorf("the plan did not arrive: %+v", plan)
			}
		})
	}
}

func TestMisbehavingSandbox(t *testing.T) {
	for behaviour, want := range map[string]struct {
		code    string
		text    string
		started bool
	}{
		"dies before the plan": {wire.CodePeerGone, "the peer ended without an answer (exit status 4)", false},
		"refuses":              {wire.CodePolicy, `plan "/x": no`, false},
		"dies after the plan":  {wire.CodePeerGone, "run the sandbox: it ended before the command had started (exit status 6)", false},
		"dies and leaves a child that holds the channel": {wire.CodePeerGone, "run the sandbox: it ended before the command had started (exit status 6)", false},
		"finds no command":                   {wire.CodeNotFound, `run "x": not found`, false},
		"speaks rubbish":                     {wire.CodeMalformed, "'o' where '{' belongs, at byte 0", false},
		"exits before it starts":             {wire.CodeMalformed, `hear from the sandbox "exit": the message does not belong here`, false},
		"starts without a pidfd":             {wire.CodeMalformed, `hear from the sandbox "started": the message does not belong here`, false},
		"starts with another descriptor":     {wire.CodeMalformed, "is no pidfd", false},
		"sends a descriptor too many":        {wire.CodeMalformed, `hear from the sandbox "listeners": 2 descriptors that do not belong to it`, false},
		"sends descriptors with a violation": {wire.CodeMalformed, `hear from the sandbox "violation": 1 descriptors that do not belong to it`, false},
		"invents a kind":                     {wire.CodeMalformed, `hear from the sandbox "hello": the message does not belong here`, false},
		"starts twice":                       {wire.CodeMalformed, `hear from the sandbox "started": 1 descriptors that do not belong to it`, true},
		"closes the channel":                 {wire.CodePeerGone, "run the sandbox: it ended without saying how the command did", true},
		"dies while the command runs":        {wire.CodePeerGone, "run the sandbox: it ended without saying how the command did", true},
	} {
		t.Run(behaviour, func(t *testing.T) {
			_, wait := runWith(t, behaviour, "good", Hooks{}, "/bin/sleep", "3600")
			start := time.Now()
			out := wait()
			if out.Fault == nil || out.Fault.Code != want.code || !strings.Contains(out.Fault.Error(), want.text) || out.Started != want.started {
				t.Errorf("got %+v (%v), want %+v", out, out.Fault, want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
				t.Errorf("a child is left: %d, %v", pid, err)
			}
		})
	}
}

func TestHangingSandbox(t *testing.T) {
	for _, behaviour := range []string{"never answers", "never starts"} {
		t.Run(behaviour, func(t *testing.T) {
			r, wait := runWith(t, behaviour, "good", Hooks{}, "/bin/true")
			r.limits = limits{answer: 300 * time.Millisecond, start: 300 * time.Millisecond, end: time.Second}
			out := wait()
			if out.Fault == nil || out.Fault.Error() != "start the sandbox: no sign of life for too long" {
				t.Errorf("got %v", out.Fault)
			}
		})
	}
	t.Run("stays after the end", func(t *testing.T) {
		r, wait := runWith(t, "stays after the end", "good", Hooks{}, "/bin/sh", "-c", "exit 7")
		r.limits.end = 300 * time.Millisecond
		start := time.Now()
		if out := wait(); out.Fault != nil || out.Exit.Code != 7 || time.Since(start) > 10*time.Second {
			t.Errorf("got %+v after %v", out, time.Since(start))
		}
	})
}

func TestCancelLeavesNothing(t *testing.T) {
	r, _ := runWith(t, "good", "good", Hooks{})
	r.Cancel()
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

func TestEndStopsTheCommand(t *testing.T) {
	r, wait := runWith(t, "good", "good", Hooks{}, "/bin/sleep", "3600")
	go func() {
		time.Sleep(200 * time.Millisecond)
		r.End(&wire.Fault{Code: wire.CodePolicy, Op: "read the control channel", Detail: "it ended"})
	}()
	out := wait()
	if out.Fault == nil || out.Fault.Error() != "read the control channel: it ended" {
		t.Errorf("got %+v", out)
	}
}

// connect is a command that reads one line from the listener that the fake init made.
const connect = `exec 3<>/dev/tcp/127.0.0.1/@PORT@ && cat <&3`

func TestProxyStartsWithTheFirstConnection(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	for name, tc := range map[string]struct {
		proxy  string
		script string
		code   int
		notice string
	}{
		"no connection, no proxyd":   {"dies of a connection", "true", 0, ""},
		"a connection is served":     {"good", `[ "$(` + connect + `)" = hello ]`, 0, ""},
		"two connections are served": {"good", `for i in 1 2; do [ "$(` + connect + `)" = hello ] || exit 1; done`, 0, ""},
		"proxyd dies and the command goes on": {"dies of a connection", "exec 2>/dev/null; " + connect + `; for i in 1 2 3 4 5 6 7 8 9; do (` + connect + `) 2>&- || exit 5; sleep 0.1; done`, 5,
			"proxyd ended: every connection fails from now on; the command goes on"},
		"a configuration that proxyd refuses": {"refuses", "exec 2>/dev/null; " + connect + "; exit 6", 6,
			`parse "bad": not a domain: every connection fails from now on; the command goes on`},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var notices []string
			hooks := Hooks{Notice: func(text string) {
				mu.Lock()
				defer mu.Unlock()
				notices = append(notices, text)
			}}
			_, wait := runWith(t, "good", tc.proxy, hooks, bash, "-c", tc.script)
			out := wait()
			if out.Fault != nil || out.Exit != (wire.Exit{Code: tc.code}) {
				t.Errorf("got %+v (%v), want status %d", out, out.Fault, tc.code)
			}
			if got := strings.Join(notices, "|"); got != tc.notice {
				t.Errorf("notices %q, want %q", got, tc.notice)
			}
		})
	}
}

func TestProxyThatIsNotThere(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var notice string
	r, err := Begin(Options{Helper: fake(t, "helper-good"), Proxy: "/nonexistent/proxyd", Hooks: Hooks{Notice: func(text string) { notice = text }}})
	if err != nil {
		t.Fatal(err)
	}
	out := r.Wait(request(false, false, bash, "-c", "exec 2>/dev/null; "+connect+"; exit 6"), wire.ProxyConfig{Version: wire.Version})
	want := `start "/nonexistent/proxyd": no such file or directory: every connection fails from now on; the command goes on`
	if out.Exit.Code != 6 || notice != want {
		t.Errorf("got %+v, notice %q", out, notice)
	}
}

func TestConfigureHoldsForTheNextConnection(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	seen := make(chan string, 8)
	r, wait := runWith(t, "good", "good", Hooks{Violation: func(v wire.Violation) { seen <- v.Target }}, bash, "-c",
		`[ "$(`+connect+`)" = hello ] || exit 1; for i in $(seq 50); do [ "$(`+connect+`)" = second.example ] && exit 9; sleep 0.1; done`)
	go func() {
		<-seen // the first connection was served
		r.Configure(wire.ProxyConfig{Version: wire.Version, AllowedDomains: []string{"second.example"}, DeniedDomains: []string{},
			DeniedDomainReasons: map[string]string{}, DeniedResolvedAddresses: []string{}})
		for range seen {
		}
	}()
	out := wait()
	close(seen)
	if out.Exit.Code != 9 {
		t.Errorf("got %+v", out)
	}
}

// What proxyd has not told when the command ends is still told; one that does not answer holds nobody up for ever.
func TestLastRefusalIsTold(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	for behaviour, want := range map[string]int{"tells late": 1, "never answers": 1} {
		var seen atomic.Int32
		_, wait := runWith(t, "good", behaviour, Hooks{Violation: func(wire.Violation) { seen.Add(1) }}, bash, "-c", connect+" >/dev/null; exit 4")
		if out := wait(); out.Fault != nil || out.Exit.Code != 4 {
			t.Errorf("%s: %+v", behaviour, out)
		}
		if got := int(seen.Load()); got != want {
			t.Errorf("%s: %d refusals, want %d", behaviour, got, want)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	before := descriptors(t)
	for range 10 {
		_, wait := runWith(t, "good", "good", Hooks{}, bash, "-c", connect+" >/dev/null")
		if out := wait(); out.Fault != nil {
			t.Fatal(out.Fault)
		}
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
	if after := descriptors(t); after > before+3 { // the Go runtime's own poller may have come
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
