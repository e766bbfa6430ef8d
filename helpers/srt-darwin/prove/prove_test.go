//go:build linux || darwin

package prove

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

// TestMain: the test binary is the program that makes the attempts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == Verb {
		os.Exit(Main(os.Args[2]))
	}
	os.Exit(m.Run())
}

// Without a sandbox every attempt works, so a refusal inside of one is the sandbox's doing; and a sandbox that refuses nothing is found out.
func TestNoSandboxIsFoundOut(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	items := Run(self, func(req wire.LaunchRequest) (wire.LaunchPlan, error) {
		return wire.LaunchPlan{Argv: req.Command.Argv, Env: req.Command.Env}, nil
	})
	if len(items) != len(attempts)+1 {
		t.Fatalf("%d items for %d attempts: %+v", len(items), len(attempts), items)
	}
	for i, a := range attempts {
		want := wire.CheckItem{Name: a.name, State: wire.CheckPass, Detail: "works"}
		if !a.works {
			want.State, want.Detail, want.Fix = wire.CheckFail, "it worked", reportIt
		}
		if items[i] != want {
			t.Errorf("got  %+v\nwant %+v", items[i], want)
		}
	}
	if last := items[len(items)-1]; last.State != wire.CheckFail || !strings.Contains(last.Detail, "work/a/b.pem has come into being") {
		t.Errorf("afterwards: %+v", last)
	}
}

func TestJudge(t *testing.T) {
	outcomes := func(o outcome) []outcome {
		out := make([]outcome, len(attempts))
		for i, a := range attempts {
			out[i] = o
			out[i].Name = a.name
		}
		return out
	}
	works, denied, other := outcome{}, outcome{Error: "operation not permitted", Policy: true}, outcome{Error: "no such file"}
	for name, c := range map[string]struct {
		free, bound   outcome
		must, mustNot string // states of what must work and of what must be refused
		detail        string // of the latter
	}{
		"refused as it must be":           {works, denied, wire.CheckFail, wire.CheckPass, "refused: operation not permitted"},
		"failed for another reason":       {works, other, wire.CheckFail, wire.CheckWeak, "failed, but not as a policy refuses: no such file"},
		"fails without a sandbox as well": {other, denied, wire.CheckFail, wire.CheckWeak, "proves nothing, because it fails without a sandbox too: no such file"},
		"not refused":                     {works, works, wire.CheckPass, wire.CheckFail, "it worked"},
	} {
		items := judge(outcomes(c.free), outcomes(c.bound))
		for i, a := range attempts {
			want := c.mustNot
			if a.works {
				want = c.must
			} else if items[i].Detail != c.detail {
				t.Errorf("%s: %s: %q", name, a.name, items[i].Detail)
			}
			if items[i].State != want {
				t.Errorf("%s: %s: %s, want %s", name, a.name, items[i].State, want)
			}
		}
	}
	for _, i := range judge(nil, nil) {
		if i.State != wire.CheckFail || i.Detail != "no outcome" {
			t.Errorf("without outcomes: %+v", i)
		}
	}
}

func TestBrokenPlan(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	items := Run(self, func(wire.LaunchRequest) (wire.LaunchPlan, error) {
		return wire.LaunchPlan{Argv: []string{"/bin/sh", "-c", "echo 'unbound variable: file-graft' >&2; exit 65"}}, nil
	})
	want := "exit status 65: unbound variable: file-graft"
	if len(items) != 1 || items[0].State != wire.CheckFail || items[0].Detail != want {
		t.Errorf("got %+v, want one failure: %s", items, want)
	}
	items = Run(self, func(wire.LaunchRequest) (wire.LaunchPlan, error) { return wire.LaunchPlan{}, fmt.Errorf("no plan") })
	if len(items) != 1 || items[0].Detail != "no plan" {
		t.Errorf("got %+v", items)
	}
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	if Print(&b, "macOS 26", []wire.CheckItem{{Name: "a", State: wire.CheckPass, Detail: "works"}, {Name: "b", State: wire.CheckWeak, Detail: "?"}}) != true {
		t.Error("a weak item is no failure")
	}
	if want := "srt-darwin on macOS 26\nPASS  a: works\nWEAK  b: ?\neverything holds\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
	if Print(&b, "x", []wire.CheckItem{{State: wire.CheckFail}}) {
		t.Error("a failure holds")
	}
}
