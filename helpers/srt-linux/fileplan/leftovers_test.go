package fileplan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

func TestLeftoversOfARun(t *testing.T) {
	w := tree(t, "old/.vscode/x", ".git/HEAD", ".git/objects/", ".git/refs/", ".git/hooks/pre-commit", "a/b/c/d")
	v, _, err := Plan(wire.FilePolicy{AllowWrite: entries(w), Protected: table, GitRules: true, ScanDepth: 3}, Options{Dir: w})
	if err != nil {
		t.Fatal(err)
	}
	if got := Leftovers(v); len(got) != 0 {
		t.Errorf("before the run: %q", got)
	}
	time.Sleep(20 * time.Millisecond) // birth times come from a clock that ticks
	for _, f := range []string{"new/.git/hooks/post-checkout", "new/.git/HEAD", "a/b/n/.vscode/tasks.json"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w, f), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !newHostFS(v.StartedNs).BornAfterStart(w + "/new") {
		t.Skip("this file system keeps no birth times")
	}
	want := []string{`"$W/a/b/n/.vscode": made by this command (.vscode)`, `"$W/new/.git": made by this command, its hooks would run: "post-checkout"`}
	if got := relative(w, Leftovers(v)); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
