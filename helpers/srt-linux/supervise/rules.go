package supervise

import (
	"bytes"
	"fmt"
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
)

// A rule is one view.Name, cut up. Strings with a folded twin are compared exactly first, and folded in directories that ignore case.
type rule struct {
	name   view.Name
	parts  []string // components
	folded []string
	glob   *pathrule.Glob // NameGlob
	foldGl *pathrule.Glob // the same, ignoring case
	suffix string         // folded: what matches itself (not what is below) ends in it; "" when that is not known
	// steady says that what matches inside a directory below base does not change when the directory moves below base.
	steady bool
	base   string
}

// A ref is one component of a sequence.
type ref struct {
	*rule
	at int
}

// foldSlack is room for a spelling of a path that is longer than the one in the rule (letters outside ASCII), in bytes.
const foldSlack = 64

// rules are the compiled names. They are read by all workers and never change.
type rules struct {
	bits  map[string]uint8   // folded component → isLast, isPart, isTree
	seqs  map[string][]ref   // folded component → where it stands in which sequences
	paths map[string]*rule   // folded path
	above map[string][]*rule // folded path of a directory → NamePath rules below it
	globs []*rule
	// gitDirs are the git directories that existed, by folded path. They stay where they are: a NamePath of their own says so.
	gitDirs       map[string]*rule
	longestGitDir int  // in bytes, with room for another spelling
	trees         bool // any rule covers what is below
}

func compile(names []view.Name) (*rules, error) {
	r := &rules{bits: map[string]uint8{}, seqs: map[string][]ref{}, paths: map[string]*rule{}, above: map[string][]*rule{}, gitDirs: map[string]*rule{}}
	for _, n := range names {
		if err := r.add(n); err != nil {
			return nil, &wire.Fault{Code: wire.CodePolicy, Op: "protect", Path: n.Path, Detail: err.Error()}
		}
	}
	return r, nil
}

func (r *rules) add(n view.Name) error {
	absolute := n.Kind != view.NameSequence
	rest, rooted := strings.CutPrefix(n.Path, "/")
	if rooted != absolute {
		return fmt.Errorf("a %s does not have this form", n.Kind)
	}
	q := &rule{name: n, parts: strings.Split(rest, "/")}
	for _, c := range q.parts {
		if c == "" || c == "." || c == ".." || strings.IndexByte(c, 0) >= 0 {
			return fmt.Errorf("not a clean path")
		}
		q.folded = append(q.folded, foldString(c))
	}
	r.trees = r.trees || n.Tree
	last := len(q.parts) - 1
	switch n.Kind {
	case view.NameGlob:
		return r.addGlob(q)
	case view.NameGitDir:
		key := foldString(n.Path)
		r.gitDirs[key] = q
		r.longestGitDir = max(r.longestGitDir, len(key)+foldSlack, len(n.Path)+foldSlack)
		return nil
	case view.NameSequence:
		for i, c := range q.folded {
			r.seqs[c] = append(r.seqs[c], ref{q, i})
		}
	case view.NamePath:
		key := ""
		for i, c := range q.folded {
			key += "/" + c
			if i < last {
				r.above[key] = append(r.above[key], q)
			}
		}
		if old := r.paths[key]; old == nil || n.Tree {
			r.paths[key] = q
		}
	default:
		return fmt.Errorf("unknown kind %q", n.Kind)
	}
	for i, c := range q.folded {
		switch {
		case i < last:
			r.bits[c] |= isPart
		case n.Tree:
			r.bits[c] |= isLast | isTree
		default:
			r.bits[c] |= isLast
		}
	}
	return nil
}

func (r *rules) addGlob(q *rule) error {
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
func (r *rules) known(folded []byte) (bits uint8, glob bool) {
	bits = r.bits[string(folded)]
	for _, g := range r.globs {
		if len(folded) >= len(g.suffix) && string(folded[len(folded)-len(g.suffix):]) == g.suffix {
			return bits, true
		}
	}
	return bits, false
}

// meetsTree says whether any component of path could be covered as a whole by a rule. It uses fold for a folded component.
func (r *rules) meetsTree(path, fold []byte) bool {
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
