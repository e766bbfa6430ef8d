package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/helper"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/quote"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/selfcheck"
	"github.com/srt-dev/srt/helpers/srt-windows/setup"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// TestMain lets the test program be runner, probe and command, as the real one is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case runas.VerbRunner, runas.VerbProbe:
			os.Exit(start(os.Args[1:]))
		case "stay": // ends only when somebody ends it
			time.Sleep(time.Hour)
		case "interrupted": // says when it hears the console, and what it hears
			os.Exit(interrupted(os.Args[2]))
		case "command":
			for _, a := range os.Args[2:] {
				fmt.Printf("%q\n", a)
			}
			fmt.Printf("TEMP=%s\n", os.Getenv("TEMP"))
			in, _ := io.ReadAll(os.Stdin)
			fmt.Printf("stdin %q\n", in)
			os.Exit(0xC0000135)
		}
	}
	os.Exit(m.Run())
}

func onWine(t *testing.T) *winapi.Real {
	t.Helper()
	if os.Getenv("SRT_WINE") != "1" {
		t.Skip("for Wine only: it would install on this machine")
	}
	real, err := winapi.New()
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// TestSelfcheckRefusesUnderWine: on a system that only poses as Windows no command may ever run, at no stage of an installation.
func TestSelfcheckRefusesUnderWine(t *testing.T) {
	real := onWine(t)
	store := &memory{}
	if _, err := helper.Prove(real, store); problem.Of(err) != problem.NotInstalled || problem.Exit(err) != 10 {
		t.Fatalf("before install: %v", err)
	}
	if status := start([]string{"selfcheck"}); status != 10 {
		t.Errorf("the verb ends with %d", status)
	}
	err := setup.Install(real, setup.Options{Random: rand.Reader})
	if err == nil {
		t.Fatal("install believed that Wine made an account and a fence")
	}
	t.Logf("install: %v", err)
	if _, err := helper.Prove(real, store); problem.Of(err) != problem.Incomplete && problem.Of(err) != problem.NotInstalled {
		t.Errorf("after an install that failed: %v", err)
	}
	// The worst case: somebody writes down by hand that everything is ready.
	rec := setup.Record{Setup: limits.Version, State: setup.StateReady, User: limits.User, Group: limits.Group, UserSID: "S-1-5-21-1-2-3-1002", GroupSID: "S-1-5-21-1-2-3-1003",
		Low: limits.ProxyPortLow, High: limits.ProxyPortHigh, Sublayer: limits.Sublayer, RunFolder: tempDir(t), Users: []sd.SID{}}
	raw, err := wire.Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := real.Protect([]byte("password"), []byte(limits.Entropy))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(real.KeyCreate(limits.StateKey, account.KeySecurity(nil)), real.ValueSet(limits.StateKey, "Record", winapi.Value{Kind: winapi.KindString, String: string(raw)}),
		real.ValueSet(limits.StateKey, "Password", winapi.Value{Kind: winapi.KindBinary, Binary: sealed})); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = real.KeyDelete(limits.StateKey) }()
	if _, err = helper.Prove(real, store); problem.Of(err) != problem.Job || problem.Fix(err) == "" {
		t.Fatalf("with a forged record: %v", err)
	}
	if status := start([]string{"selfcheck"}); status != 24 {
		t.Errorf("with a forged record the verb ends with %d", status)
	}
	if err := real.KeyCreate(limits.StateKey, sd.Descriptor{Owner: sd.Administrators, DACL: []sd.ACE{{Mask: limits.KeyAll, SID: sd.Everyone}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := helper.Prove(real, store); problem.Of(err) != problem.Drift || !strings.Contains(err.Error(), "S-1-1-0 can write into srt's registry key") {
		t.Errorf("with a key that everybody can write: %v", err)
	}
}

func tempDir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("", "srt-test")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// launch runs a command through exec, runner and probe. decide judges the self-check's report.
func launch(t *testing.T, argv []string, stdin string, decide func(selfcheck.Spec, runas.Ready) error) (code uint32, out string, err error) {
	t.Helper()
	return launchWith(t, argv, stdin, decide, func(*runas.Exec) {})
}

// launchWith is launch; more adds to what exec is told.
func launchWith(t *testing.T, argv []string, stdin string, decide func(selfcheck.Spec, runas.Ready) error, more func(*runas.Exec)) (code uint32, out string, err error) {
	t.Helper()
	real := onWine(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmp := tempDir(t)
	canary := filepath.Join(tmp, "check")
	if err := errors.Join(os.Mkdir(canary, 0o700), os.WriteFile(filepath.Join(canary, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	inside, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	at := netip.MustParseAddrPort(inside.Addr().String())
	questions := selfcheck.Plan(selfcheck.Place{Inside: at, Outside: at, Canary: canary, Tmp: tmp})
	questions.Connections = questions.Connections[:2] // this machine's own ports only
	check, err := wire.Encode(questions)
	if err != nil {
		t.Fatal(err)
	}
	env, err := runas.Environment([]string{`SystemRoot=C:\windows`, `PATH=` + filepath.Dir(self)}, runas.Own{Tmp: tmp}, "u")
	if err != nil {
		t.Fatal(err)
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(inW, stdin); err != nil {
		t.Fatal(err)
	}
	_ = inW.Close()
	text := make(chan string)
	go func() { b, _ := io.ReadAll(outR); text <- string(b) }()
	user, err := real.UserSID()
	if err != nil {
		t.Fatal(err)
	}
	e := runas.Exec{Host: sameUser{real}, Random: rand.Reader, Self: self, Pid: uint32(os.Getpid()), User: user, Account: user, Name: "u",
		Prepare: runas.Prepare{Argv: argv, Env: env, Dir: tmp, Own: sd.ForRoot("r"), Roots: []sd.SID{}, Callers: []sd.SID{}, Check: check},
		Streams: [3]winapi.Stream{inR, outW, os.Stderr}, Judge: func(r runas.Ready) error { return decide(questions, r) }}
	more(&e)
	code, err = e.Run()
	_ = outW.Close()
	_ = inR.Close()
	return code, <-text, err
}

// TestTheJudgeRefusesWine goes the whole way to a process under the "restricted" token, and its report must not pass.
func TestTheJudgeRefusesWine(t *testing.T) {
	var items []wire.CheckItem
	_, out, err := launch(t, []string{"nothing"}, "", func(s selfcheck.Spec, r runas.Ready) error {
		var report selfcheck.Report
		if err := wire.Decode(r.Report, wire.MaxMessage, &report); err != nil {
			return err
		}
		var err error
		user, _ := (&winapi.Real{}).UserSID()
		items, err = selfcheck.Judge(s, report, runas.Token(r.Half, sd.ForRoot("r"), nil, nil), user, "S-1-5-21-1-2-3-1003")
		return err
	})
	if err == nil || out != "" {
		t.Fatalf("a command would have run under Wine: %v, %q", items, out)
	}
	t.Logf("refused: %v", err)
	if code := problem.Of(err); code != problem.Token && code != problem.Job && !strings.Contains(err.Error(), "job") {
		t.Errorf("for another reason than that nothing is confined: %v", err)
	}
}

// TestLaunchPath lets the judge look away, to see that stdio, words, environment and exit code make it through both hops.
func TestLaunchPath(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	vectors := quote.Hostile()
	words := vectors[len(vectors)-4]
	code, out, err := launch(t, append([]string{self, "command"}, words...), "hello", func(selfcheck.Spec, runas.Ready) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, w := range words {
		want += fmt.Sprintf("%q\n", w)
	}
	if code != 0xC0000135 {
		t.Errorf("exit code 0x%x", code)
	}
	if !strings.HasPrefix(out, want+"TEMP=") || !strings.HasSuffix(out, "stdin \"hello\"\n") {
		t.Errorf("got %s\nwant %s", out, want)
	}
	if _, _, err := launch(t, []string{"does-not-exist"}, "", func(selfcheck.Spec, runas.Ready) error { return nil }); problem.Fault(err).Code != wire.CodeNotFound {
		t.Errorf("a missing program: %v", err)
	}
}

// TestSrtEndsUnderWine: when srt is gone, runner and command are ended, whatever they are doing.
func TestSrtEndsUnderWine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	abort := make(chan struct{})
	// The output ends when the last process that holds it has ended: that launchWith returns shows that the command is gone.
	_, _, err = launchWith(t, []string{self, "stay"}, "", func(selfcheck.Spec, runas.Ready) error { return nil }, func(e *runas.Exec) {
		e.Abort, e.Started = abort, func() { close(abort) }
	})
	if problem.Fault(err).Code != wire.CodePeerGone {
		t.Errorf("got %v", err)
	}
}

// interrupted waits for the console's word, and ends with a status of its own.
func interrupted(ready string) int {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		return 1
	}
	select {
	case <-heard:
		fmt.Println("heard")
		return 0x40010005
	case <-time.After(time.Minute):
		return 2
	}
}

// TestCtrlCUnderWine: what srt hears from its console arrives at the command, in the console that runner and command share, and the
// runner lives through it. Wine sends no Ctrl-Break.
func TestCtrlCUnderWine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(tempDir(t), "ready")
	control := make(chan runas.Message, 1)
	code, out, err := launchWith(t, []string{self, "interrupted", ready}, "", func(selfcheck.Spec, runas.Ready) error { return nil }, func(e *runas.Exec) {
		e.Control = control
		e.Started = func() {
			go func() {
				for {
					if _, err := os.Stat(ready); err == nil {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				control <- runas.Message{Kind: runas.SayCtrlC}
			}()
		}
	})
	if err != nil || code != 0x40010005 || out != "heard\n" {
		t.Errorf("status 0x%x, output %q, %v", code, out, err)
	}
}
