package fileplan

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
)

var (
	seed  = flag.Uint64("seed", 0, "seed of the property test; 0: one from the clock")
	cases = flag.Int("cases", 2000, "random trees of the property test")

	kernelCases = flag.Int("kernel-cases", 60, "random trees of the property test in a real sandbox; more for a soak")
)

func theSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano())
}

// gen makes random trees, policies and operations from few names, so that they meet.
type gen struct{ *rand.Rand }

var pool = []string{"a", "b", "c", "f", "x.key", ".git", ".bashrc", ".claude", "commands", ".vscode", "hooks", "config", "HEAD", "objects", "refs", "info", "[d]"}

func (g gen) name() string {
	if g.IntN(3) > 0 {
		return pool[g.IntN(5)]
	}
	return pool[g.IntN(len(pool))]
}

func (g gen) path(depth int) string {
	p := "/w"
	if g.IntN(4) == 0 {
		p = "/o"
	}
	for range g.IntN(depth + 1) {
		p += "/" + g.name()
	}
	return p
}

func (g gen) tree() *memfs.FS {
	fs := memfs.New("/w/", "/o/")
	for range 4 + g.IntN(20) {
		p := g.path(4)
		e := p
		switch g.IntN(8) {
		case 0, 1:
			e += " -> " + g.target()
		case 2, 3, 4:
			e += "/"
		case 5:
			if strings.HasSuffix(p, "/.git") {
				e += " = gitdir: " + g.target()
			}
		}
		add(fs, e)
	}
	if g.IntN(3) == 0 {
		p := g.path(2)
		for _, f := range []string{"/.git/HEAD", "/.git/objects/", "/.git/refs/", "/.git/hooks/h", "/.git/config = [core]\nhookspath=" + g.name()} {
			add(fs, p+f)
		}
	}
	return fs
}

// add leaves out what does not fit the tree.
func add(fs *memfs.FS, e string) {
	defer func() { _ = recover() }()
	fs.Add(e)
}

func (g gen) target() string {
	if g.IntN(2) == 0 {
		return g.path(3)
	}
	t := g.name()
	if g.IntN(2) == 0 {
		t = "../" + t
	}
	return t
}

func (g gen) entries(fs *memfs.FS, most int) []wire.PathEntry {
	out := []wire.PathEntry{}
	all := fs.Paths()
	for range g.IntN(most + 1) {
		e := wire.PathEntry{Path: g.path(3)}
		if g.IntN(2) == 0 {
			e.Path = all[g.IntN(len(all))]
		}
		if g.IntN(6) == 0 {
			e = wire.PathEntry{Path: "/w" + []string{"/**/", "/*/", "/", "/a/**/"}[g.IntN(4)] + []string{"*.key", "f", "?", "[ab]", "b/**"}[g.IntN(5)]}
			e.Glob = strings.ContainsAny(e.Path, "*?[") // as settings are resolved
		}
		e.Rule = e.Path
		out = append(out, e)
	}
	return out
}

func (g gen) policy(fs *memfs.FS) wire.FilePolicy {
	f := wire.FilePolicy{DenyRead: g.entries(fs, 2), AllowRead: g.entries(fs, 2), AllowWrite: g.entries(fs, 2), DenyWrite: g.entries(fs, 3), ScanDepth: 1 + g.IntN(3)}
	if g.IntN(3) > 0 {
		f.AllowWrite = append(f.AllowWrite, wire.PathEntry{Path: "/w", Rule: "/w"})
	}
	if g.IntN(3) > 0 {
		f.Protected, f.GitRules = table, g.IntN(2) == 0
	}
	return f
}

// somewhere gives a path to work on: mostly one that exists, or something in one.
func (g gen) somewhere(fs *memfs.FS) string {
	all := fs.Paths()
	p := all[g.IntN(len(all))]
	switch g.IntN(5) {
	case 0, 1:
		p += "/" + g.name()
	case 2:
		p += "/../" + g.name()
	}
	return p
}

// TestPolicyAndPlanAgree: for random trees, policies and operations what the evaluator says is what mounts and supervisor would do with
// the plan. Operations that a plain kernel would refuse are left out; those that go through are done, so that trees change on the way.
func TestPolicyAndPlanAgree(t *testing.T) {
	s := theSeed()
	asked, denied, planned := 0, 0, 0
	for n := range *cases {
		g := gen{rand.New(rand.NewPCG(s, uint64(n)))}
		fs := g.tree()
		files := g.policy(fs)
		p, err := pathrule.NewWith(files, fs, pathrule.Options{Dir: "/"})
		if err != nil {
			continue // an allowed link in a writable place
		}
		v, _, err := plan(files, Options{Dir: "/"}, fs)
		if err != nil {
			continue // the working directory is denied
		}
		planned++
		before := fs.Paths()
		fs.Start()
		m := newModel(v, fs)
		for range 40 {
			op := pathrule.Op(1 + g.IntN(int(pathrule.OpTruncate)))
			a, b := g.somewhere(fs), g.somewhere(fs)
			do := func(fs *memfs.FS) error { return fs.Do(op, a) }
			var d pathrule.Decision
			switch op {
			case pathrule.OpRename, pathrule.OpLink:
				do = func(fs *memfs.FS) error { return fs.Pair(op, a, b) }
			case pathrule.OpSymlink:
				b = g.target()
				do = func(fs *memfs.FS) error { return fs.Symlink(b, a) }
			}
			if do(fs.Clone()) != nil {
				continue
			}
			if op == pathrule.OpRename || op == pathrule.OpLink {
				d = p.DecidePair(op, a, b)
			} else {
				d = p.Decide(op, a)
			}
			ok, other := m.allowed(op, a, b)
			if other && !(ok && !d.Allowed) {
				continue
			}
			asked++
			if !d.Allowed {
				denied++
			}
			if d.Allowed != ok {
				t.Fatalf("seed %d case %d: %s %q %q: the policy says %v (%s, %q), the plan %v\ntree at the start %s\ntree now %s\npolicy %s\nsteps %q\nnames %q",
					s, n, op, a, b, d.Allowed, d.Reason, d.Rule, ok, describeTree(fs, before), describeTree(fs, fs.Paths()), describePolicy(files), steps(v), names(v))
			}
			if ok {
				if err := do(fs); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("seed %d: %d plans, %d questions, %d denied", s, planned, asked, denied)
	if planned < *cases/4 || denied < asked/20 || denied > asked*19/20 {
		t.Errorf("seed %d: %d plans, %d questions, %d denied: the test no longer tests much", s, planned, asked, denied)
	}
}

func describeTree(fs *memfs.FS, paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "\n  %s %s", p, map[pathrule.Kind]string{pathrule.Dir: "dir", pathrule.File: "file", pathrule.Missing: "gone", pathrule.Link: "-> " + fs.Readlink(p)}[fs.Lstat(p)])
		if fs.BornAfterStart(p) {
			b.WriteString(" (new)")
		}
	}
	return b.String()
}

func describePolicy(f wire.FilePolicy) string {
	var b strings.Builder
	for _, l := range []struct {
		name    string
		entries []wire.PathEntry
	}{{"denyRead", f.DenyRead}, {"allowRead", f.AllowRead}, {"allowWrite", f.AllowWrite}, {"denyWrite", f.DenyWrite}} {
		for _, e := range l.entries {
			fmt.Fprintf(&b, "\n  %s %q", l.name, e.Path)
		}
	}
	fmt.Fprintf(&b, "\n  protected %d, git %v, depth %d", len(f.Protected), f.GitRules, f.ScanDepth)
	return b.String()
}
