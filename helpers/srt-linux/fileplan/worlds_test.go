package fileplan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
)

// TestPatternsInSmallWorlds goes through every move between a few names, in an order of the seed, in small trees and with patterns that
// meet there.
func TestPatternsInSmallWorlds(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	s := theSeed()
	var sum tally
	trees := [][]string{{"/w/a/b/", "/w/c/b", "/w/d/"}, {"/w/a/b/c/", "/w/l -> a", "/w/c -> d/b", "/w/d/"}, {"/w/b", "/w/cc/a/b", "/w/dd/"}, {"/w/l -> gone", "/w/cc/l -> ../b", "/w/b/a/"}}
	for n, tree := range trees {
		for i, deny := range [][]string{{"/w/**/b", "/w/?"}, {"/w/**/b"}, {"/w/?"}, {"/w/*/b"}, {"/w/a/**/b"}, {"/w/[ab]", "/w/**/c"}, {"/w/cc/?/b"}} {
			mem := memfs.New(append(tree, "/o/")...)
			files := wire.FilePolicy{AllowWrite: entries("/w"), ScanDepth: 3}
			for _, d := range deny {
				files.DenyWrite = append(files.DenyWrite, wire.PathEntry{Path: d, Rule: d, Glob: true})
			}
			p, err := pathrule.NewWith(files, mem, pathrule.Options{Dir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			w := begin(t, srt, fmt.Sprintf("seed %d, %q, %q", s, tree, deny), p, mem, files)
			names := []string{"/w/a", "/w/b", "/w/c", "/w/cc", "/w/l", "/w/dd", "/w/a/b", "/w/cc/a", "/w/cc/b", "/w/cc/l", "/w/dd/b"}
			var all []order
			for _, from := range names {
				for _, op := range []pathrule.Op{pathrule.OpCreate, pathrule.OpWrite, pathrule.OpRemove, pathrule.OpMkdir} {
					all = append(all, order{op, from, ""})
				}
				for _, to := range names {
					for _, op := range []pathrule.Op{pathrule.OpRename, pathrule.OpLink, pathrule.OpSymlink} {
						all = append(all, order{op, from, to})
					}
				}
			}
			rand.New(rand.NewPCG(s, uint64(n*100+i))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, o := range all {
				w.ask(t, o, &sum)
			}
			w.end(t)
		}
	}
	t.Logf("seed %d: %d questions, %d denied", s, sum.asked, sum.denied)
	if sum.asked < 1000 || sum.denied < sum.asked/20 || sum.denied > sum.asked*19/20 {
		t.Errorf("%d questions, %d denied: the test no longer tests much", sum.asked, sum.denied)
	}
}

type tally struct{ asked, denied int }

// A world is one tree, on the disk with a sandbox over it and in memory with the evaluator.
type world struct {
	*kernel
	policy *pathrule.Policy
	mem    *memfs.FS
	files  wire.FilePolicy
	before []string
	done   []string
}

func begin(t *testing.T, srt, which string, p *pathrule.Policy, mem *memfs.FS, files wire.FilePolicy) *world {
	t.Helper()
	w := &world{policy: p, mem: mem, files: files, before: mem.Paths(), kernel: startKernel(t, srt, mem, files)}
	w.which = which
	mem.Start()
	return w
}

// ask does what a plain kernel would do, in the sandbox and, when the evaluator allows it, in memory.
func (w *world) ask(t *testing.T, o order, sum *tally) {
	t.Helper()
	if o.Op == pathrule.OpExec || o.inMemory(w.mem.Clone()) != nil {
		return
	}
	var d pathrule.Decision
	if o.Op == pathrule.OpRename || o.Op == pathrule.OpLink {
		d = w.policy.DecidePair(o.Op, o.A, o.B)
	} else {
		d = w.policy.Decide(o.Op, o.A)
	}
	got := w.kernel.ask(t, o)
	if got == "EXDEV" || got != "" && d.Allowed && (namesProtected(w.mem, o.A, w.files) || namesProtected(w.mem, o.B, w.files)) {
		return // another mount, which the policy does not know; an existing name that lay too deep for the search, which the supervisor may refuse all the same
	}
	sum.asked++
	if !d.Allowed {
		sum.denied++
	}
	if o.Op == pathrule.OpRemove && got == "" && d.Rule == "a git directory stays where it is" {
		d.Allowed = true // rmdir is not supervised: an empty git directory can go, and cannot be made again
	}
	w.done = append(w.done, fmt.Sprintf("%s %s %s: %s", o.Op, o.A, o.B, strings.ReplaceAll(got, w.dir, "")))
	if d.Allowed != (got == "") {
		t.Fatalf("%s: the policy says %v (%s, %q) to the last of %s\ntree at the start %s\ntree now %s\npolicy %s", w.which,
			d.Allowed, d.Reason, d.Rule, strings.Join(w.done, "\n  "), describeTree(w.mem, w.before), describeTree(w.mem, w.mem.Paths()), describePolicy(w.files))
	}
	if d.Allowed {
		if err := o.inMemory(w.mem); err != nil {
			t.Fatal(err)
		}
	}
}

// end compares what is left.
func (w *world) end(t *testing.T) {
	t.Helper()
	w.stop(t)
	if diff := w.differs(w.mem); diff != "" {
		t.Fatalf("%s: afterwards %s\npolicy %s", w.which, diff, describePolicy(w.files))
	}
}
