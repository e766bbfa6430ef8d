package srttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that remembers how it was ended instead of ending.
type recorder struct {
	testing.TB
	skipped, failed string
}

type ended struct{}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	panic(ended{})
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	panic(ended{})
}

// record runs f against a recorder, which is valid after f was ended by a panic too.
func record(f func(testing.TB)) *recorder {
	r := &recorder{}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(ended{}) {
				panic(p)
			}
		}()
		f(r)
	}()
	return r
}

func TestAMissingNeedSkipsOrFails(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, c := range map[string]struct {
		f    func(testing.TB)
		want string
	}{
		"a tool":   {func(t testing.TB) { RequireTool(t, "no-such-tool") }, `needs the program "no-such-tool"`},
		"a binary": {func(t testing.TB) { Built(t, "bin/no-such-program") }, "needs bin/no-such-program (scripts/build)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(NoSkip, "")
			if r := record(c.f); !strings.HasPrefix(r.skipped, "NOT TESTED: "+c.want) || r.failed != "" {
				t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
			}
			t.Setenv(NoSkip, "1")
			if r := record(c.f); !strings.HasPrefix(r.failed, "not allowed to skip: "+c.want) || r.skipped != "" {
				t.Errorf("under %s: skipped %q, failed %q", NoSkip, r.skipped, r.failed)
			}
		})
	}
}

func TestRootAndOrdinaryUserExcludeEachOther(t *testing.T) {
	t.Setenv(NoSkip, "1")
	asRoot, asUser := record(func(t testing.TB) { RequireRoot(t) }), record(func(t testing.TB) { RequireOrdinaryUser(t) })
	if asRoot.failed != "" || asUser.failed != "" {
		t.Errorf("failed %q, %q: the other side has to skip even under %s", asRoot.failed, asUser.failed, NoSkip)
	}
	if (asRoot.skipped == "") == (asUser.skipped == "") {
		t.Errorf("skipped %q and %q: exactly one has to run", asRoot.skipped, asUser.skipped)
	}
	if os.Geteuid() == 0 && !strings.HasPrefix(asUser.skipped, needsOrdinary) {
		t.Errorf("skipped %q", asUser.skipped)
	}
}

func TestWhatIsThereIsGiven(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := RequireTool(t, "tool"); got != tool {
		t.Errorf("tool at %q, want %q", got, tool)
	}
	if got := Built(t, "go.work"); got != filepath.Join(Root(t), "go.work") {
		t.Errorf("built file at %q", got)
	}
}
