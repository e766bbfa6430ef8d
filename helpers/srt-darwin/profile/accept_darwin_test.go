package profile

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/pathrule/memfs"
)

// TestAccepted: the real sandbox-exec takes every golden profile, and starts a program under it.
func TestAccepted(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, file := range cases {
		run(t, filepath.Base(file), readArchive(t, file)["profile.sb"])
	}
}

// TestAcceptedMany: it takes the profile of a policy with 3,000 paths, too.
func TestAcceptedMany(t *testing.T) {
	g := golden{AllowWrite: []string{"/Users/u/p"}, Protected: "all"}
	for i := range 3000 {
		g.DenyWrite = append(g.DenyWrite, fmt.Sprintf("/Users/u/p/packages/module-%02d/generated/file-%04d.json", i%40, i))
	}
	spec, err := g.spec(memfs.New("/Users/u/p/"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Generate(spec)
	if err != nil {
		t.Fatal(err)
	}
	run(t, fmt.Sprintf("%d bytes", len(p.Text)), p.Text)
}

func run(t *testing.T, name, text string) {
	t.Helper()
	start := time.Now()
	out, err := exec.Command("/usr/bin/sandbox-exec", "-p", text, "--", "/usr/bin/true").CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", name, err, out)
	}
	t.Logf("%s: %v", name, time.Since(start))
}
