package session

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// connect is a shell line that prints what proxyd answers.
const connect = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$PORT'; cat <&3'`

func config(allowed ...string) wire.ProxyConfig {
	return wire.ProxyConfig{Version: wire.Version, AllowedDomains: allowed, DeniedDomains: []string{}, DeniedDomainReasons: map[string]string{},
		DeniedResolvedAddresses: []string{}}
}

// seen collects what the hooks are told.
type seen struct {
	mu         sync.Mutex
	violations []wire.Violation
	allowed    []wire.Decision
}

func (s *seen) hooks() Hooks {
	return Hooks{
		Violation: func(v wire.Violation) { s.mu.Lock(); defer s.mu.Unlock(); s.violations = append(s.violations, v) },
		Allowed:   func(d wire.Decision) { s.mu.Lock(); defer s.mu.Unlock(); s.allowed = append(s.allowed, d) },
	}
}

func open(t *testing.T, o Options) *Session {
	t.Helper()
	dir := fakes(t)
	if o.Helper == "" {
		o.Helper = filepath.Join(dir, "fake-helper")
	}
	if o.Proxy == "" {
		o.Proxy = filepath.Join(dir, "fake-proxyd")
	}
	s, err := Start(t.Context(), o, config("first"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func request(id, behaviour, script string) wire.LaunchRequest {
	return wire.LaunchRequest{Version: wire.Version, CommandID: id, Command: wire.Command{Argv: []string{behaviour, script}}}
}

func none() *wire.NetLists { return nil }

func allow(domain string) func() *wire.NetLists {
	return func() *wire.NetLists { return &wire.NetLists{AllowedDomains: []string{domain}} }
}

// outcome is what came of a command.
type outcome struct {
	prepare, start, finish error
	out                    string
	exit                   wire.Exit
	known                  bool
	report                 []string
}

func run(ctx context.Context, s *Session, r wire.LaunchRequest, lists func() *wire.NetLists) (o outcome) {
	c, err := s.Prepare(ctx, r, lists, nil)
	if err != nil {
		return outcome{prepare: err}
	}
	var out bytes.Buffer
	x := exec.Cmd{Stdout: &out, WaitDelay: 5 * time.Second}
	if o.start = c.Start(ctx, &x); x.Process != nil {
		_ = x.Wait()
	}
	o.finish = c.Finish()
	o.exit, o.known = c.Exit()
	o.out, o.report = out.String(), c.Report()
	return o
}

func says(err error, text string) bool {
	return text == "" && err == nil || text != "" && err != nil && err.Error() == text
}

func TestPlansThatCannotBeFollowed(t *testing.T) {
	s := open(t, Options{})
	for behaviour, want := range map[string]string{
		"refused":                         `plan "/x": no`,
		"no program":                      "it names no program",
		"a relative program":              "it names no program",
		"no control channel":              "there is no control channel",
		"two control channels":            "there are two control channels",
		"a descriptor twice":              "descriptor 4 comes twice",
		"a standard stream":               "descriptor 2 is out of range",
		"a descriptor far away":           "descriptor 1048576 is out of range",
		"a descriptor of an unknown kind": `descriptor 5 is of the unknown kind "?"`,
		"a file that nobody gave":         "descriptor 5 was not asked for",
	} {
		if behaviour != "refused" {
			want = fmt.Sprintf("follow the plan of %q: %s", s.o.Helper, want)
		}
		if o := run(t.Context(), s, request("c", behaviour, "echo RAN"), none); !says(o.prepare, want) || o.out != "" {
			t.Errorf("%s: %v, output %q; want %s", behaviour, o.prepare, o.out, want)
		}
	}
	o := run(t.Context(), s, request("c", "a program that is missing", "echo RAN"), none)
	if want := `start "/no/such/program": fork/exec /no/such/program: no such file or directory`; !says(o.start, want) || !says(o.finish, want) {
		t.Errorf("a program that is missing: %v, %v", o.start, o.finish)
	}
	if o := run(t.Context(), s, request("c", "good", "echo ran; exit 3"), none); o.out != "ran\n" || o.exit.Code != 3 || o.finish != nil {
		t.Errorf("afterwards: %+v", o)
	}
}

func TestWhatTheInitSays(t *testing.T) {
	hear := func(kind, what string) string { return fmt.Sprintf("hear from the sandbox %q: %s", kind, what) }
	for behaviour, c := range map[string]struct{ start, finish string }{
		"good":                             {"", ""},
		"says that it cannot":              {`run "exit 5": command not found`, `run "exit 5": command not found`},
		"ends at once":                     {"run the sandbox: it ended before the command had started", "run the sandbox: it ended before the command had started"},
		"says rubbish":                     {"decode ControlMessage: 'p' where '{' belongs, at byte 0", "decode ControlMessage: 'p' where '{' belongs, at byte 0"},
		"says an unknown word":             {hear("hello", "the message does not belong here"), hear("hello", "the message does not belong here")},
		"ends before the start":            {hear("exit", "the message does not belong here"), hear("exit", "the message does not belong here")},
		"starts without a descriptor":      {hear("started", "the message does not belong here"), hear("started", "the message does not belong here")},
		"fewer descriptors than listeners": {hear("listeners", "1 descriptors that do not belong to it"), hear("listeners", "1 descriptors that do not belong to it")},
		"listens twice":                    {"", hear("listeners", "1 descriptors that do not belong to it")},
		"never says how it ended":          {"", "run the sandbox: it ended without saying how the command did"},
		"goes on after the end":            {"", ""},
		"stays after the end":              {"", ""},
	} {
		t.Run(behaviour, func(t *testing.T) {
			s := open(t, Options{})
			o := run(t.Context(), s, request("c", behaviour, "exit 5"), none)
			if !says(o.start, c.start) || !says(o.finish, c.finish) {
				t.Errorf("Start %v, want %s; Finish %v, want %s", o.start, c.start, o.finish, c.finish)
			}
			if want := c.finish == ""; o.known != want || want && o.exit.Code != 5 {
				t.Errorf("exit %+v, known %v", o.exit, o.known)
			}
			if err := s.Err(); err != nil {
				t.Errorf("the session is broken: %v", err)
			}
		})
	}
	s := open(t, Options{})
	if o := run(t.Context(), s, request("c", "starts with something else", ""), none); o.start == nil || !strings.HasSuffix(o.start.Error(), " is no pidfd") {
		t.Errorf("a descriptor that is no pidfd: %v", o.start)
	}
}

// Everything is told before Finish returns, and nobody speaks in another command's name.
func TestEventsOfACommand(t *testing.T) {
	var got seen
	s := open(t, Options{Hooks: got.hooks()})
	o := run(t.Context(), s, request("mine", "tells much", connect), allow("own"))
	if o.out != "first own\n" || o.finish != nil || len(o.report) != 1 || o.report[0] != "left" {
		t.Errorf("%+v", o)
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	if len(got.violations) != 201 || len(got.allowed) != 1 || got.allowed[0].Target != "made" || got.allowed[0].CommandID != "mine" {
		t.Errorf("%d violations, allowed %+v", len(got.violations), got.allowed)
	}
	last := 0
	for _, v := range got.violations {
		if v.CommandID != "mine" {
			t.Errorf("attributed to %q", v.CommandID)
		}
		if v.Target == "last" {
			last++
		}
	}
	if last != 1 {
		t.Errorf("proxyd's last word came %d times", last)
	}
}

func TestUpdates(t *testing.T) {
	s := open(t, Options{})
	var lists sync.Map
	lists.Store("", "own")
	c, err := s.Prepare(t.Context(), request("c", "good", "while read x; do "+connect+"; done; exit 4"), func() *wire.NetLists {
		own, _ := lists.Load("")
		return allow(own.(string))()
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Cmd{}
	in, _ := x.StdinPipe()
	out, _ := x.StdoutPipe()
	if err := c.Start(t.Context(), &x); err != nil {
		t.Fatal(err)
	}
	ask := func(want string) {
		t.Helper()
		in.Write([]byte("\n"))
		text := make([]byte, 100)
		if n, err := out.Read(text); err != nil || string(text[:n]) != want+"\n" {
			t.Errorf("proxyd has %q, %v; want %q", text[:n], err, want)
		}
	}
	ask("first own")
	if err := s.Configure(t.Context(), config("second")); err != nil {
		t.Error(err)
	}
	ask("second own")
	if err := s.Configure(t.Context(), config("bad")); !says(err, `parse "bad": not a domain`) {
		t.Errorf("a configuration that is refused: %v", err)
	}
	ask("second own")
	lists.Store("", "other")
	for _, id := range []string{"c", "nobody"} {
		if err := s.Relist(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	ask("second other")
	in.Close()
	_ = x.Wait()
	if err := c.Finish(); err != nil {
		t.Error(err)
	}
	if exit, _ := c.Exit(); exit.Code != 4 {
		t.Errorf("%+v", exit)
	}
	if o := run(t.Context(), s, request("c", "good", "sleep 1000"), allow("refuse")); !says(o.finish, "attach command: not these lists") {
		t.Errorf("lists that are refused: %+v", o)
	}
	if r, err := s.Check(t.Context(), wire.HostContext{}); err != nil || len(r.Items) != 1 {
		t.Errorf("Check: %+v, %v", r, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := open(t, Options{})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			o := run(t.Context(), s, request(fmt.Sprint(i), "good", fmt.Sprintf("echo %d; exit %d", i, i%7)), none)
			if o.prepare != nil || o.start != nil || o.finish != nil || o.out != fmt.Sprintf("%d\n", i) || o.exit.Code != i%7 {
				t.Errorf("%d: %+v", i, o)
			}
		})
	}
	wg.Wait()
}
