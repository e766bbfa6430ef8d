package supervise

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// What a component means to the rules, as bits; looked up first, so that most names cost one look into a map.
const (
	isLast = 1 << iota // the last component of a sequence or path: must not come into being where the rule holds
	isPart             // any other component: nothing that brings the rest along may get this name
	isTree             // the last component of a rule that covers everything below
	isLeft             // no rule, but pathrule.Leftovers looks at it
)

// A rule is one view.Name. Strings with a folded twin are compared exactly first, and folded in directories that ignore case.
type rule struct {
	name *view.Name
	key  string // the folded path
	*cut        // nil for a NamePath: there may be thousands
}

// A cut is what patterns and sequences are made of.
type cut struct {
	parts  []string // components
	folded []string
	glob   *pathrule.Glob // NameGlob
	foldGl *pathrule.Glob // the same, ignoring case
	suffix string         // folded: what matches itself (not what is below) ends in it; "" when that is not known
	// steady says that what matches inside a directory below base does not change when the directory moves below base.
	steady bool
	base   string
}

// A ref is one component of a rule, counted from 0.
type ref struct {
	*rule
	at int
}

// after gives the components behind the one that is meant.
func (r ref) after() []string {
	parts := strings.Split(strings.TrimPrefix(r.name.Path, "/"), "/")
	return parts[r.at+1:]
}

// foldSlack is room for a spelling of a path that is longer than the one in the rule (letters outside ASCII), in bytes.
const foldSlack = 64

// Rules are names in the form in which calls are judged by them. They never change.
type Rules struct {
	bits  map[string]uint8 // folded component → isLast, isPart, isTree
	seqs  map[string][]ref // folded component → where it stands in which sequences
	paths []rule           // NamePath, in the order of their keys that pathrule.ComparePaths gives
	globs []*rule
	// gitDirs are the git directories that existed, by folded path. They stay where they are: a NamePath of their own says so.
	gitDirs       map[string]*rule
	longestGitDir int  // in bytes, with room for another spelling
	trees         bool // any rule covers what is below
}

// Compile checks names and makes rules of them. It looks at nothing but names.
func Compile(names []view.Name) (*Rules, error) {
	r := &Rules{bits: make(map[string]uint8, len(names)), seqs: map[string][]ref{}, gitDirs: map[string]*rule{}, paths: make([]rule, 0, len(names))}
	for _, name := range pathrule.LeftFiles {
		r.bits[name] = isLeft
	}
	dir := "" // of the path before
	for i := range names {
		n := &names[i]
		err := checkName(n)
		switch {
		case err != nil:
		case n.Kind == view.NamePath:
			dir = r.addPath(n, dir)
		default:
			err = r.add(n)
		}
		if err != nil {
			return nil, &wire.Fault{Code: wire.CodePolicy, Op: "protect", Path: n.Path, Detail: err.Error()}
		}
	}
	byKey := func(a, b rule) int { return pathrule.ComparePaths(a.key, b.key) }
	if !slices.IsSortedFunc(r.paths, byKey) { // the plan is, but folding may change the order
		slices.SortStableFunc(r.paths, byKey)
	}
	return r, nil
}

// checkName refuses what has not the form of its kind.
func checkName(n *view.Name) error {
	rest, rooted := strings.CutPrefix(n.Path, "/")
	if rooted != (n.Kind != view.NameSequence) {
		return fmt.Errorf("a %s does not have this form", n.Kind)
	}
	for more := true; more; {
		var c string
		if c, rest, more = strings.Cut(rest, "/"); c == "" || c == "." || c == ".." || strings.IndexByte(c, 0) >= 0 {
			return fmt.Errorf("not a clean path")
		}
	}
	return nil
}

// addPath adds a NamePath; dir is the folded directory of the one before, whose components are known already. It gives its own.
func (r *Rules) addPath(n *view.Name, dir string) string {
	r.trees = r.trees || n.Tree
	q := rule{name: n, key: foldString(n.Path)}
	r.paths = append(r.paths, q)
	i := strings.LastIndexByte(q.key, '/')
	r.ends(q.key[i+1:], n.Tree)
	if i > 0 && q.key[:i] != dir {
		for c := range strings.SplitSeq(strings.TrimPrefix(q.key[:i], "/"), "/") {
			r.bits[c] |= isPart
		}
	}
	return q.key[:i]
}

// ends notes a last component.
func (r *Rules) ends(folded string, tree bool) {
	bits := uint8(isLast)
	if tree {
		bits |= isTree
	}
	r.bits[folded] |= bits
}

// at gives the NamePath rules whose path folds to key.
func (r *Rules) at(key string) []rule {
	i, _ := r.search(key)
	n := i
	for n < len(r.paths) && r.paths[n].key == key {
		n++
	}
	return r.paths[i:n]
}

// below gives the NamePath rules below the directory whose path folds to key.
func (r *Rules) below(key string) []rule {
	i, _ := r.search(key)
	for i < len(r.paths) && r.paths[i].key == key {
		i++
	}
	n, prefix := i, key+"/"
	for n < len(r.paths) && strings.HasPrefix(r.paths[n].key, prefix) {
		n++
	}
	return r.paths[i:n]
}

func (r *Rules) search(key string) (int, bool) {
	return slices.BinarySearchFunc(r.paths, key, func(q rule, key string) int { return pathrule.ComparePaths(q.key, key) })
}

// add adds what is not a NamePath.
func (r *Rules) add(n *view.Name) error {
	r.trees = r.trees || n.Tree
	q := &rule{name: n, key: foldString(n.Path), cut: &cut{parts: strings.Split(strings.TrimPrefix(n.Path, "/"), "/")}}
	for _, c := range q.parts {
		q.folded = append(q.folded, foldString(c))
	}
	switch n.Kind {
	case view.NameGlob:
		return r.addGlob(q)
	case view.NameGitDir:
		r.gitDirs[q.key] = q
		r.longestGitDir = max(r.longestGitDir, len(q.key)+foldSlack, len(n.Path)+foldSlack)
		return nil
	case view.NameSequence:
		last := len(q.parts) - 1
		for i, c := range q.folded {
			r.seqs[c] = append(r.seqs[c], ref{q, i})
			if i < last {
				r.bits[c] |= isPart
			}
		}
		r.ends(q.folded[last], n.Tree)
		return nil
	}
	return fmt.Errorf("unknown kind %q", n.Kind)
}

func (r *Rules) addGlob(q *rule) error {
	var err error
	if q.glob, err = pathrule.ParseGlob(q.name.Path); err != nil {
		return err
	}
	if q.foldGl, err = pathrule.ParseGlobFold(q.name.Path); err != nil {
		return err
	}
	last := q.parts[len(q.parts)-1]
	if i := strings.LastIndexAny(last, `*?]\`); last != "**" {
		q.suffix = foldString(last[i+1:])
	}
	q.base = q.glob.LiteralBase()
	tail := strings.TrimPrefix(strings.TrimPrefix(q.name.Path, q.base), "/")
	inner, isDeep := strings.CutPrefix(tail, "**/")
	q.steady = isDeep && !strings.Contains(inner, "/")
	r.globs = append(r.globs, q)
	return nil
}

// known says what the rules could have to do with a folded name: bits, and whether a pattern's end fits.
func (r *Rules) known(folded []byte) (bits uint8, glob bool) {
	bits = r.bits[string(folded)]
	for _, g := range r.globs {
		if len(folded) >= len(g.suffix) && string(folded[len(folded)-len(g.suffix):]) == g.suffix {
			return bits, true
		}
	}
	return bits, false
}

// meetsTree says whether any component of path could be covered as a whole by a rule. It uses fold for a folded component.
func (r *Rules) meetsTree(path, fold []byte) bool {
	for _, g := range r.globs {
		if g.name.Tree && (g.glob.Covers(text(path)) || g.foldGl.Covers(text(path))) {
			return true
		}
	}
	for len(path) > 0 {
		i := bytes.LastIndexByte(path, '/')
		if c := path[i+1:]; len(c) <= nameMax && r.bits[string(foldInto(fold, c))]&isTree != 0 {
			return true
		}
		path = path[:max(i, 0)]
	}
	return false
}
