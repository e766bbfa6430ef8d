package profile

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// TestNoWayAround lets a command do at random whatever the profile allows: make, move, link, remove and write. Whatever it does, what
// was hidden is not read under any name, what was protected keeps its place and its content, and what may not exist does not.
func TestNoWayAround(t *testing.T) {
	const worlds, steps = 150, 50
	done, secrets, fixed, absent := map[string]int{}, 0, 0, 0
	for seed := range uint64(worlds) {
		for _, order := range sbpltest.Orders() {
			w, err := newWorld(rand.New(rand.NewPCG(seed, 11)))
			if err != nil {
				continue // TestAgreesWithPathrule tells which errors may be
			}
			r := rand.New(rand.NewPCG(seed, 13))
			g := w.guard()
			secrets, fixed, absent = secrets+g.secrets, fixed+len(g.fixed), absent+len(g.absent)
			m := sbpltest.Machine{Profile: w.judge, Order: order, FS: w.fs}
			var log []string
			for range steps {
				moves := []move{{w.ask(r), pick(r, w.fs.Paths())}}
				if len(g.absent) > 0 && r.IntN(4) == 0 {
					moves = w.prepare(r, pick(r, g.absent))
				}
				for _, step := range moves {
					if !w.possible(step.q) || slices.Contains(readOps, step.q.op) || !w.perform(m, step) {
						continue
					}
					done[step.q.op.String()]++
					log = append(log, step.q.String()+" ("+step.target+")")
				}
				if bad := g.broken(m); bad != "" {
					t.Fatalf("seed %d, %v: %s after\n%s\npolicy %+v\n%s", seed, order, bad, strings.Join(log, "\n"), w.files, w.text)
				}
			}
		}
	}
	t.Logf("done %v; watched %d secrets, %d protected files, %d names", done, secrets, fixed, absent)
	for _, op := range []string{"create", "mkdir", "symlink", "rename", "remove", "write"} {
		if done[op] < 40 {
			t.Errorf("%s happened %d times only", op, done[op])
		}
	}
	if secrets < 150 || fixed < 300 || absent < 300 {
		t.Error("too little to watch")
	}
}

// move is one thing that the command does; target is what a symbolic link says.
type move struct {
	q      question
	target string
}

// perform does a move if the profile allows it and the file system can.
func (w *world) perform(m sbpltest.Machine, step move) bool {
	switch q := step.q; q.op {
	case pathrule.OpRename, pathrule.OpLink:
		return m.DoPair(q.op, q.from, q.to) == nil && w.fs.Pair(q.op, q.from, q.to) == nil
	case pathrule.OpSymlink:
		return m.Do(q.op, q.from) == nil && w.fs.Symlink(step.target, q.from) == nil
	default:
		return m.Do(q.op, q.from) == nil && w.fs.Do(q.op, q.from) == nil
	}
}

// prepare makes what lies below some directory above path in another place, and brings it there under a new name: by renaming, by a
// link, or after taking away what was there.
func (w *world) prepare(r *rand.Rand, path string) []move {
	names := components(path)
	k := r.IntN(len(names))
	head := "/" + strings.Join(names[:k+1], "/")
	var places []string
	for _, p := range w.fs.Paths() {
		if w.fs.Lstat(p) == pathrule.Dir && w.policy.Writable(p) {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		return nil
	}
	at := pick(r, places) + "/zz"
	moves := []move{{question{pathrule.OpRename, head, pick(r, places) + "/yy"}, ""}}
	if k == len(names)-1 {
		moves = append(moves, move{question{pathrule.OpCreate, at, ""}, ""})
	} else {
		moves = append(moves, move{question{pathrule.OpMkdir, at, ""}, ""})
		made := at
		for i, name := range names[k+1:] {
			made += "/" + name
			op := pathrule.OpMkdir
			if i == len(names)-k-2 {
				op = pathrule.OpCreate
			}
			moves = append(moves, move{question{op, made, ""}, ""})
		}
	}
	if r.IntN(3) == 0 {
		return append(moves, move{question{pathrule.OpSymlink, head, ""}, at})
	}
	return append(moves, move{question{pathrule.OpRename, at, head}, ""})
}

const secret = "SECRET "

// guard remembers what must stay as it is.
type guard struct {
	w       *world
	secrets int
	fixed   map[string]string // path → content
	absent  []string
}

// guard fills the files: each has content of its own, and hidden ones say so.
func (w *world) guard() *guard {
	g := &guard{w: w, fixed: map[string]string{}}
	for _, p := range w.fs.Paths() {
		if w.fs.Lstat(p) != pathrule.File {
			continue
		}
		text := "content of " + p
		if !w.policy.Decide(pathrule.OpRead, p).Allowed {
			text = secret + text
			g.secrets++
		}
		if !w.policy.Decide(pathrule.OpWrite, p).Allowed {
			g.fixed[p] = text
		}
		w.fs.Add(p + " = " + text)
	}
	w.fs.Start()
	for _, m := range w.policy.Marks() {
		if m.DenyWrite != "" && m.Kind == pathrule.Missing {
			g.absent = append(g.absent, m.Path)
		}
	}
	for _, dir := range append(w.fs.Paths(), "/") {
		if w.fs.Lstat(dir) != pathrule.Dir || !w.policy.Writable(dir) {
			continue
		}
		for _, s := range w.policy.Sequences() {
			if p := strings.TrimSuffix(dir, "/") + "/" + s.Name; w.fs.Lstat(p) == pathrule.Missing {
				g.absent = append(g.absent, p)
			}
		}
	}
	return g
}

// broken says what is no longer as it must be.
func (g *guard) broken(m sbpltest.Machine) string {
	for _, p := range g.w.fs.Paths() {
		text := string(g.w.fs.ReadFile(p))
		if strings.HasPrefix(text, secret) && m.Do(pathrule.OpRead, p) == nil {
			return text + " can be read as " + p
		}
	}
	for p, text := range g.fixed {
		if got := string(g.w.fs.ReadFile(p)); got != text {
			return p + " holds " + got
		}
	}
	for _, p := range g.absent {
		if _, kind := pathrule.Resolve(g.w.fs, p); kind != pathrule.Missing {
			return p + " has come into being"
		}
	}
	return ""
}
