package profile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// world is one random tree under one random policy.
type world struct {
	fs     *memfs.FS
	files  wire.FilePolicy
	policy *pathrule.Policy
	spec   Spec
	text   string
	judge  *sbpltest.Profile
}

var (
	worldNames = []string{"a", "b", "c", "ab", "K", ".env", "k.pem", ".git", ".claude", ".vscode", ".bashrc", "hooks", "config", "commands", "HEAD", "objects", "refs", "secrets", "straße"}
	worldRoots = []string{"/w", "/h/u", "/s"}
	worldGlobs = []string{"/w/**/.env", "/**/k.pem", "/w/*/a", "/w/**/secrets/*", "/w/a/**", "/h/u/[a-b]*", "/w/[!a]", "/h/**/?", "/w/**/a/**/b", "/w/.env/**/.env", "/w/a*/[[:alpha:]]"}
	worldTable = []wire.Protected{{Name: ".bashrc"}, {Name: ".vscode", Dir: true}, {Name: ".claude/commands", Dir: true}, {Name: ".git/hooks", Dir: true}, {Name: ".git/config"}}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func randomPath(r *rand.Rand) string {
	p := pick(r, worldRoots)
	for range 1 + r.IntN(4) {
		p += "/" + pick(r, worldNames)
	}
	return p
}

// newWorld may fail where the policy is one that pathrule refuses.
func newWorld(r *rand.Rand) (*world, error) {
	w := &world{fs: memfs.New("/w/", "/h/u/", "/s/", "/private/tmp/srt-1/")}
	for range 4 + r.IntN(22) {
		p := randomPath(r)
		if w.fs.Lstat(p) != pathrule.Missing || w.throughFile(p) {
			continue
		}
		switch r.IntN(8) {
		case 0, 1:
			p += "/"
		case 2:
			p += " -> " + randomPath(r)
		}
		w.fs.Add(p)
	}
	existing := w.fs.Paths()
	list := func(max int, globs bool) []wire.PathEntry {
		out := []wire.PathEntry{}
		for range r.IntN(max + 1) {
			e := wire.PathEntry{}
			switch k := r.IntN(10); {
			case k < 3 && globs:
				e.Path, e.Glob = pick(r, worldGlobs), true
			case k < 8:
				e.Path = pick(r, existing)
			default:
				e.Path = randomPath(r)
			}
			e.Rule = e.Path
			out = append(out, e)
		}
		return out
	}
	w.files = wire.FilePolicy{DenyRead: list(3, true), AllowRead: list(2, true), AllowWrite: list(3, true), DenyWrite: list(3, true),
		GitRules: r.IntN(2) == 0, ScanDepth: 1 + r.IntN(3), Protected: []wire.Protected{}}
	if r.IntN(3) > 0 {
		w.files.AllowWrite = append(w.files.AllowWrite, wire.PathEntry{Path: pick(r, worldRoots), Rule: "root"})
	}
	if r.IntN(3) > 0 {
		w.files.Protected = worldTable
	}
	var err error
	if w.policy, err = bind(w.files, w.fs, "/w"); err != nil {
		return w, err
	}
	w.spec = Spec{Files: w.policy, Tag: "srt-TAG", Real: foldFS{w.fs}.real}
	p, err := Generate(w.spec)
	if err != nil {
		return w, err
	}
	w.text = p.Text
	w.judge, err = sbpltest.Load(p.Text, sbpltest.MacOS14)
	if err == nil && w.judge.Misordered() != 0 {
		err = fmt.Errorf("line %d stands behind a rule for a narrower operation", w.judge.Misordered())
	}
	return w, err
}

// throughFile says that a component above p is no directory.
func (w *world) throughFile(p string) bool {
	for up := parent(p); up != "/"; up = parent(up) {
		if k := w.fs.Lstat(up); k != pathrule.Missing && k != pathrule.Dir {
			return true
		}
	}
	return false
}

// question is one operation.
type question struct {
	op       pathrule.Op
	from, to string // to only for two paths
}

func (q question) String() string {
	return strings.TrimSpace(fmt.Sprintf("%v %s %s", q.op, q.from, q.to))
}

var (
	readOps = []pathrule.Op{pathrule.OpRead, pathrule.OpStat, pathrule.OpList, pathrule.OpExec}
	workOps = []pathrule.Op{pathrule.OpWrite, pathrule.OpChmod, pathrule.OpTruncate, pathrule.OpRemove}
	makeOps = []pathrule.Op{pathrule.OpCreate, pathrule.OpMkdir, pathrule.OpSymlink}
	pairOps = []pathrule.Op{pathrule.OpRename, pathrule.OpLink}
)

// ask makes up a question about what is there, and about names beside it.
func (w *world) ask(r *rand.Rand) question {
	existing := w.fs.Paths()
	fresh := func() string {
		dir := pick(r, existing)
		if real, kind := pathrule.Resolve(w.fs, dir); kind != pathrule.Dir {
			dir = parent(real)
		}
		return strings.TrimSuffix(dir, "/") + "/" + pick(r, worldNames)
	}
	switch r.IntN(4) {
	case 0:
		return question{pick(r, readOps), pick(r, existing), ""}
	case 1:
		return question{pick(r, workOps), pick(r, existing), ""}
	case 2:
		return question{pick(r, makeOps), fresh(), ""}
	}
	return question{pick(r, pairOps), pick(r, existing), fresh()}
}

func (w *world) want(q question) pathrule.Decision {
	if q.to != "" {
		return w.policy.DecidePair(q.op, q.from, q.to)
	}
	return w.policy.Decide(q.op, q.from)
}

func (w *world) got(o sbpltest.Order, q question) error {
	m := sbpltest.Machine{Profile: w.judge, Order: o, FS: w.fs}
	if q.to != "" {
		return m.DoPair(q.op, q.from, q.to)
	}
	return m.Do(q.op, q.from)
}

// possible leaves out what no kernel does, whatever the policy: making a name that is taken, replacing a directory.
func (w *world) possible(q question) bool {
	at := func(p string, follow bool) (string, pathrule.Kind) {
		if !follow {
			dir, _ := pathrule.Resolve(w.fs, parent(p))
			p = strings.TrimSuffix(dir, "/") + p[strings.LastIndexByte(p, '/'):]
			return p, w.fs.Lstat(p)
		}
		return pathrule.Resolve(w.fs, p)
	}
	from, kind := at(q.from, q.op != pathrule.OpRemove && q.op != pathrule.OpSymlink && q.op != pathrule.OpMkdir && q.to == "")
	switch q.op {
	case pathrule.OpMkdir, pathrule.OpSymlink:
		return kind == pathrule.Missing && w.fs.Lstat(parent(from)) == pathrule.Dir
	case pathrule.OpCreate:
		return kind != pathrule.Dir && kind != pathrule.Link && w.fs.Lstat(parent(from)) == pathrule.Dir
	case pathrule.OpRename, pathrule.OpLink:
		to, toKind := at(q.to, false)
		return w.fs.Lstat(parent(to)) == pathrule.Dir && toKind != pathrule.Dir && (toKind == pathrule.Missing || kind != pathrule.Dir) && !inside(to, from) && !inside(from, to)
	}
	return kind != pathrule.Missing && kind != pathrule.Link || q.op == pathrule.OpRemove
}

// TestAgreesWithPathrule: what the profile means under both readings of rule order is what pathrule decides, except where stricter says
// why macOS denies more and looser what Seatbelt cannot see.
func TestAgreesWithPathrule(t *testing.T) {
	const worlds, questions = 800, 24
	allowed, denied, explained := map[string]int{}, map[string]int{}, map[string]int{}
	total := 0
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 7))
		w, err := newWorld(r)
		if err != nil {
			if w.policy == nil {
				continue // a policy that is refused everywhere
			}
			t.Fatalf("seed %d: %v\n%s", seed, err, w.text)
		}
		for range questions {
			q := w.ask(r)
			if !w.possible(q) {
				continue
			}
			want := w.want(q)
			first, second := w.got(sbpltest.OperationFirst, q), w.got(sbpltest.SourceOrder, q)
			if (first == nil) != (second == nil) {
				t.Fatalf("seed %d: %v: the readings differ: %v, %v\n%s", seed, q, first, second, w.text)
			}
			total++
			switch {
			case want.Allowed == (first == nil):
				if want.Allowed {
					allowed[q.op.String()]++
				} else {
					denied[q.op.String()]++
				}
				continue
			case want.Allowed:
				if why := w.stricter(q); why != "" {
					explained[why]++
					continue
				}
			case w.looser(q, want) != "":
				explained[w.looser(q, want)]++
				continue
			}
			t.Fatalf("seed %d: %v: the profile says %v, pathrule %+v\npolicy %+v\ntree %v\n%s", seed, q, first, want, w.files, w.fs.Paths(), w.text)
		}
	}
	t.Logf("%d questions; allowed %v; denied %v; differences %v", total, allowed, denied, explained)
	if total < 5000 {
		t.Errorf("%d questions are too few", total)
	}
	for _, op := range slices.Concat(readOps, workOps, makeOps, pairOps[:1]) {
		if allowed[op.String()] < 20 || denied[op.String()] < 20 {
			t.Errorf("%v: agreed on %d allowed and %d denied, which proves little", op, allowed[op.String()], denied[op.String()])
		}
	}
	sum := 0
	for _, n := range explained {
		sum += n
	}
	if sum*10 > total {
		t.Errorf("%d of %d answers differ", sum, total)
	}
}
