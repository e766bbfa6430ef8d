package fileplan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

func TestWhatARunWithoutSupervisorBroke(t *testing.T) {
	w := tree(t, "dir/", "there.key", "conf")
	deny := append(entries(w+"/missing", w+"/dir/later", w+"/never", w+"/conf"), wire.PathEntry{Path: w + "/**/*.key", Glob: true})
	v, _, err := Plan(wire.FilePolicy{AllowWrite: entries(w), DenyWrite: deny, ScanDepth: 3}, Options{Dir: w})
	if err != nil {
		t.Fatal(err)
	}
	u := NotePresent(v)
	if before := u.Broken(); len(before) != 0 {
		t.Errorf("before the run: %q", before)
	}
	// Nothing is mounted in this test: what carries a mount in a sandbox looks as if it had been replaced.
	u.covered = slices.DeleteFunc(slices.Clone(v.ReadOnly), func(t view.Target) bool { return !strings.HasSuffix(t.Path, "conf") })
	for _, f := range []string{"missing", "dir/later", "dir/deep/new.key", "free"} {
		p := filepath.Join(w, f)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`"$W/dir/later": made by this command, which "$W/dir/later" refuses and nothing could prevent here`,
		`"$W/missing": made by this command, which "$W/missing" refuses and nothing could prevent here`,
		`"$W/conf": put in another's place by this command, which "$W/conf" refuses and nothing could prevent here`,
		`"$W/dir/deep/new.key": made by this command, which "$W/**/*.key" refuses and nothing could prevent here`,
	}
	if got := relative(w, u.Broken()); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
