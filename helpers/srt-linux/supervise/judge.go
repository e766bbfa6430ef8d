package supervise

import (
	"bytes"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// bare is a name without trailing slashes.
func bare(name []byte) []byte { return bytes.TrimRight(name, "/") }

// known looks a name up: whether the rules could have anything to do with it.
func (w *worker) known(name []byte) (bits uint8, glob bool) {
	if name = bare(name); len(name) > nameMax {
		return 0, false // the kernel refuses it
	}
	return w.rules.known(foldInto(w.fold[:0], name))
}

// judge gives the rule that forbids a name in a directory to come into being; nil when none does. What it cannot find out counts
// against the name.
func (w *worker) judge(p place) *rule {
	if w.foreign {
		return w.judgeForeign(p)
	}
	bits, glob := w.known(p.name)
	if bits&isLast == 0 && !glob {
		if !w.rules.trees && len(w.rules.gitDirs) == 0 {
			return nil
		}
		if path := w.pathOf(p.dir); path != nil && !w.rules.meetsTree(path, w.fold[:0]) {
			return w.inGitDir(path, p.name)
		}
	}
	name := string(bare(p.name))
	if name == "" || name == "." || name == ".." {
		return nil // names nothing new
	}
	dir := string(w.pathOf(p.dir))
	if q := w.inGitDir([]byte(dir), p.name); q != nil {
		return q
	}
	j := judgement{w, p.dir, dir, nil}
	if bits&isLast != 0 {
		if q := j.last(name); q != nil {
			return q
		}
	}
	if w.rules.trees {
		if q := j.inTree(); q != nil {
			return q
		}
	}
	return j.globs(name)
}

// judgeAway gives the rule that forbids a name to be moved away, or to get a second name, which would be a way to change it. A
// sequence does not: what exists is protected by mounts down to where it was looked for.
func (w *worker) judgeAway(p place) *rule {
	if w.foreign {
		return w.judgeForeign(p)
	}
	bits, glob := w.known(p.name)
	if bits&isLast == 0 && !glob {
		path := w.pathOf(p.dir)
		if path != nil && !(w.rules.trees && w.rules.meetsTree(path, w.fold[:0])) {
			return w.inGitDir(path, p.name)
		}
	}
	name := string(bare(p.name))
	dir := string(w.pathOf(p.dir))
	if q := w.inGitDir([]byte(dir), p.name); q != nil {
		return q
	}
	j := judgement{w, p.dir, dir, nil}
	full := join(dir, name)
	if q := j.exactly(full, false); q != nil {
		return q
	}
	if q := j.inTree(); q != nil && q.name.Kind == view.NamePath {
		return q
	}
	return j.globs(name)
}

// A judgement is about names in one directory.
type judgement struct {
	w    *worker
	fd   int
	path string // of fd; "" when it cannot be had
	comp []string
}

// components of the directory's path.
func (j *judgement) components() []string {
	if j.comp == nil && j.path != "/" {
		j.comp = strings.Split(strings.TrimPrefix(j.path, "/"), "/")
	}
	return j.comp
}

// last judges a name that ends some rule.
func (j *judgement) last(name string) *rule {
	folded := foldString(name)
	for _, q := range j.w.rules.seqs[folded] {
		if q.at == len(q.parts)-1 && j.same(name, q.parts[q.at], 0) && j.stands(q, 0) {
			return q.rule
		}
	}
	return j.exactly(join(j.path, name), false)
}

// exactly gives the NamePath rule of the path full; with trees, only one that covers what is below it too.
func (j *judgement) exactly(full string, trees bool) *rule {
	same := j.w.rules.at(foldString(full))
	for i := range same {
		if q := &same[i]; (q.name.Tree || !trees) && j.samePath(full, q) {
			return q
		}
	}
	return nil
}

// part gives the sequences of which a name is not the last component, where they hold, and the NamePath rules below it.
func (j *judgement) part(name string) []ref {
	var refs []ref
	folded := foldString(name)
	for _, q := range j.w.rules.seqs[folded] {
		if q.at < len(q.parts)-1 && j.same(name, q.parts[q.at], 0) && j.stands(q, 0) {
			refs = append(refs, q)
		}
	}
	full := join(j.path, name)
	below := j.w.rules.below(foldString(full))
	at, prefix := strings.Count(full, "/")-1, full+"/"
	for i := range below {
		if q := &below[i]; strings.HasPrefix(q.name.Path, prefix) || j.w.folds(j.fd, len(j.components())) {
			refs = append(refs, ref{q, at})
		}
	}
	return refs
}

// stands says whether the sequence holds whose component q.at would be (or is) a name in the directory that lies up levels above
// j.fd: the components before it are the names of the directories, and the one that holds the first of them existed before the run.
func (j *judgement) stands(q ref, up int) bool {
	if j.path == "" {
		return true
	}
	c := j.components()
	c = c[:len(c)-up]
	if len(c) < q.at {
		return false
	}
	for i := 1; i <= q.at; i++ {
		have, want := c[len(c)-i], q.at-i
		if have != q.parts[want] && (foldString(have) != q.folded[want] || !j.w.folds(j.fd, up+i)) {
			return false
		}
	}
	if j.w.private("/" + strings.Join(c[:len(c)-q.at], "/")) {
		return false
	}
	if q.name.Git && q.at > 0 && j.w.made(j.fd, up+q.at-1) { // a repository that the run made is its own
		return false
	}
	return !j.w.made(j.fd, up+q.at)
}

// same compares a name in the directory up levels above j.fd with a component that folds to the same.
func (j *judgement) same(name, part string, up int) bool { return name == part || j.w.folds(j.fd, up) }

func (j *judgement) samePath(full string, q *rule) bool {
	return full == q.name.Path || j.w.folds(j.fd, len(j.components()))
}

// inTree says whether the directory lies inside something that a rule covers as a whole.
func (j *judgement) inTree() *rule {
	w := j.w
	c := j.components()
	for i, name := range c {
		if w.rules.bits[name]&isTree == 0 && w.rules.bits[foldString(name)]&isTree == 0 {
			continue
		}
		up := len(c) - 1 - i // of this component above j.fd
		for _, q := range w.rules.seqs[foldString(name)] {
			if q.name.Tree && q.at == len(q.parts)-1 && j.same(name, q.parts[q.at], up+1) && j.stands(q, up+1) {
				return q.rule
			}
		}
		full := "/" + strings.Join(c[:i+1], "/")
		if q := j.exactly(full, true); q != nil {
			return q
		}
	}
	return nil
}

func (j *judgement) globs(name string) *rule {
	if len(j.w.rules.globs) == 0 {
		return nil
	}
	if j.path == "" {
		return j.w.rules.globs[0]
	}
	full := join(j.path, name)
	for _, q := range j.w.rules.globs {
		if q.matches(full) || q.matchesFolded(full) && j.w.folds(j.fd, len(j.components())) {
			return q
		}
	}
	return nil
}

func (q *rule) matches(path string) bool {
	return q.glob.Match(path) || q.name.Tree && q.glob.Covers(path)
}

func (q *rule) matchesFolded(path string) bool {
	return q.foldGl.Match(path) || q.name.Tree && q.foldGl.Covers(path)
}

// private says whether a directory belongs to this run alone.
func (s *Supervisor) private(dir string) bool {
	for _, p := range s.cfg.Private {
		if dir == p || strings.HasPrefix(dir, p+"/") {
			return true
		}
	}
	return false
}
