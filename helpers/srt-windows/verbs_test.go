package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/elevate"
	"github.com/srt-dev/srt/helpers/srt-windows/helper"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/run"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

type memory struct{ data []byte }

func (m *memory) Lock() (func() error, error) { return func() error { return nil }, nil }
func (m *memory) Load() ([]byte, error)       { return m.data, nil }
func (m *memory) Save(b []byte) error         { m.data = b; return nil }

type desk struct {
	w      *fake.Windows
	store  *memory
	out    bytes.Buffer
	asked  string
	answer func(parameters string) (int, error)
}

func newDesk() *desk { return &desk{w: fake.New(), store: &memory{}} }

func (d *desk) run(line string) error {
	args := strings.Fields(line)
	w, err := parse(args)
	if err != nil {
		return err
	}
	v := verbRunner{sys: d.w, store: d.store, out: &d.out, random: rand.Reader, self: func() (string, error) { return `C:\srt-windows.exe`, nil },
		elevate: func(_, parameters string) (int, error) { d.asked = parameters; return d.answer(parameters) },
		check: func() ([]checkItem, error) {
			return []checkItem{{Name: "token", State: wire.CheckFail, Detail: "d", Fix: "f"}}, &problem.Error{Code: problem.Token, Op: "self-check", Detail: "d"}
		}}
	return v.run(args, w)
}

// agree runs the words that were handed over, as an administrator.
func (d *desk) agree(parameters string) (int, error) {
	d.w.IsElevated = true
	err := d.run(parameters)
	d.w.IsElevated = false
	return problem.Exit(err), nil
}

func TestInstallAsksOnce(t *testing.T) {
	d := newDesk()
	d.answer = func(string) (int, error) { return 0, elevate.ErrDeclined }
	if err := d.run("install"); problem.Of(err) != problem.NotElevated || problem.Exit(err) != 12 {
		t.Fatalf("declined: %v", err)
	}
	d.answer = d.agree
	if err := d.run("install --proxy-port-range 60100-60101"); err != nil {
		t.Fatal(err)
	}
	if want := "install --proxy-port-range 60100-60101 --elevated --for " + string(fake.Alice); d.asked != want {
		t.Errorf("asked for %q", d.asked)
	}
	d.out.Reset()
	if err := d.run("status"); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.out.String(), "account srt-sandbox (S-1-5-21-100-200-300-1012), proxy ports 60100-60101, loopback open: false\nWEAK account: ") {
		t.Errorf("got %s", d.out.String())
	}
	d.out.Reset()
	if err := d.run("status --json"); err != nil || !strings.HasPrefix(d.out.String(), `{"installed":true,"state":"ready"`) {
		t.Errorf("%v: %s", err, d.out.String())
	}
	if err := d.run("install"); problem.Of(err) != problem.Differs || problem.Exit(err) != 15 {
		t.Errorf("other settings: %v", err)
	}
	if err := d.run("uninstall"); err != nil {
		t.Fatal(err)
	}
	if err := d.run("status"); problem.Of(err) != problem.NotInstalled || problem.Exit(err) != 10 {
		t.Errorf("after uninstall: %v", err)
	}
}

func TestInternalFailureOfAnElevatedRun(t *testing.T) {
	d := newDesk()
	d.answer = func(string) (int, error) { return 77, nil }
	var status statusError
	if err := d.run("install"); !errors.As(err, &status) || status != 77 {
		t.Errorf("got %v", err)
	}
	d.w.IsElevated, d.answer = true, nil
	d.w.FailAt = len(d.w.Calls) + 5
	if err := d.run("install --elevated"); err == nil || d.asked == "" {
		t.Errorf("got %v", err)
	}
}

func TestSelfcheckVerb(t *testing.T) {
	d := newDesk()
	err := d.run("selfcheck")
	if problem.Exit(err) != 23 || d.out.String() != "FAIL token: d\n     hint: f\n" {
		t.Errorf("%v: %s", err, d.out.String())
	}
	d = newDesk()
	err = d.run("selfcheck --json")
	if problem.Exit(err) != 23 || d.out.String() != `[{"name":"token","state":"FAIL","detail":"d","fix":"f"}]`+"\n" {
		t.Errorf("for programs: %v: %s", err, d.out.String())
	}
}

func TestACLVerb(t *testing.T) {
	d := newDesk()
	for line, text := range map[string]string{
		"acl":                "srt-windows: acl list | acl forget PATH | acl forget --all",
		"acl forget":         "srt-windows: acl list | acl forget PATH | acl forget --all",
		"acl forget x --all": "srt-windows: acl list | acl forget PATH | acl forget --all",
		"acl forget x":       `srt-windows: path "x": not an absolute path on a drive, such as C:\work`,
		"acl show":           "srt-windows: acl list | acl forget PATH | acl forget --all",
	} {
		if err := d.run(line); err == nil || err.Error() != text || problem.Of(err) != problem.Usage {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{"acl list", "acl list --json", "acl forget --all", `acl forget C:\x`} {
		if err := d.run(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if d.out.String() != "[]\n" {
		t.Errorf("got %q", d.out.String())
	}
}

func TestHelper(t *testing.T) {
	d := newDesk()
	h := helper.Helper{M: run.Machine{Sys: d.w, Store: d.store, Random: rand.Reader}, Self: `C:\Program Files\srt\srt-windows.exe`, Profile: `C:\Users\alice`,
		Prove: func() ([]checkItem, error) { return []checkItem{{Name: "token", State: wire.CheckPass}}, nil }}
	if desc, err := h.Describe(context.Background()); err != nil || desc.Name != "srt-windows" || desc.Version != wire.Version {
		t.Errorf("%+v, %v", desc, err)
	}
	report, err := h.Check(context.Background(), wire.CheckRequest{Version: wire.Version})
	if err != nil || len(report.Items) != 1 || report.Items[0].State != wire.CheckFail || report.Items[0].Fix != "srt-windows install" {
		t.Errorf("%+v, %v", report, err)
	}
	var f *wire.Fault
	req := wire.LaunchRequest{Version: wire.Version, Command: wire.Command{Argv: []string{"x"}, Dir: `C:\Users\alice\proj`, Env: []string{`SystemRoot=C:\Windows`, "SECRET=1"}},
		Files: wire.FilePolicy{ScanDepth: 1, Protected: []wire.Protected{{Name: ".bashrc"}}}}
	if _, err := h.Prepare(context.Background(), req); !errors.As(err, &f) || f.Code != wire.CodeUnsupported || f.Hint != "srt-windows install" {
		t.Errorf("before install: %v", err)
	}
	d.answer = d.agree
	if err := d.run("install"); err != nil {
		t.Fatal(err)
	}
	d.w.Mkdir(`C:\Users\alice\proj`)
	d.w.WriteFile(`C:\Program Files\srt\srt-windows.exe`)
	plan, err := h.Prepare(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Argv) != 2 || plan.Argv[1] != "exec" || len(plan.Env) != 2 || plan.Env[0] != `SystemRoot=C:\Windows` || plan.Env[1] != `USERPROFILE=C:\Users\alice` || len(plan.Descriptors) != 2 || plan.Descriptors[0].Number != 3 ||
		plan.Descriptors[1].Number != 4 || plan.Descriptors[1].Kind != wire.FDLifetime || plan.Dir != `C:\Windows` {
		t.Errorf("%+v", plan)
	}
	var back wire.LaunchRequest
	if err := wire.Decode(plan.Descriptors[0].Data, wire.MaxMessage, &back); err != nil || back.Command.Dir != req.Command.Dir {
		t.Errorf("%+v, %v", back, err)
	}
	if report, err := h.Check(context.Background(), wire.CheckRequest{Version: wire.Version}); err != nil || report.Items[len(report.Items)-1].Name != "token" {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestOtherSystemsRefuse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this is Windows")
	}
	if _, err := winapi.New(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	for _, verb := range []string{"install", "status", "exec", "plan"} {
		if got := start([]string{verb}); got != 3 {
			t.Errorf("%s ends with %d", verb, got)
		}
	}
}
