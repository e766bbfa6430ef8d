package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/srttest/conform"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

var update = flag.Bool("update", false, "rewrite the golden profiles")

// TestGolden shows which profile a settings file becomes, for review: the configurations of the documentation.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	place := conform.Place{Base: "/Users/u"}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, profile, _ := strings.Cut(string(text), "-- profile.sb --\n")
			_, rest, _ := strings.Cut(head, "-- tree --\n")
			tree, settings, ok := strings.Cut(rest, "-- settings.json --\n")
			if !ok {
				t.Fatal("a tree and settings are wanted")
			}
			c := conform.Case{Settings: place.Replace(settings)}
			fs := memfs.New("/bin/sh = x", "/private/tmp/tmp-1/", place.Dir()+"/", place.Home()+"/")
			fs.Add(strings.Fields(place.Replace(tree))...)
			req, err := c.Request("darwin", place, []string{"/bin/sh"}, []string{"PATH=/bin", "TMPDIR=/private/tmp/tmp-1"}, "127.0.0.1:49152")
			if err != nil {
				t.Fatal(err)
			}
			p, err := Build(req, host{fs}, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, release := range []sbpltest.Release{sbpltest.MacOS14, sbpltest.MacOS26} {
				if j, err := sbpltest.Load(p.Argv[2], release); err != nil || j.Misordered() != 0 {
					t.Errorf("release %v: %v", release, err)
				}
			}
			switch {
			case *update:
				if err := os.WriteFile(file, []byte(head+"-- profile.sb --\n"+p.Argv[2]), 0o644); err != nil {
					t.Fatal(err)
				}
			case p.Argv[2] != profile:
				t.Errorf("the profile has changed; -update rewrites it. Got:\n%s", p.Argv[2])
			}
		})
	}
}
