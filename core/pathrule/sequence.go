package pathrule

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// Sequence is one mandatory deny: names below one another, protected in every directory that existed when the command started.
type Sequence struct {
	Name   string // "/" between the names
	Parts  []string
	Tree   bool // everything below is protected too
	Git    bool // begins with ".git": a git directory that the run made is free of it
	Reason string
}

// Rule is what messages name.
func (s *Sequence) Rule() string {
	if s.Reason == "" {
		return s.Name
	}
	return s.Name + ": " + s.Reason
}

func (p *Policy) parseProtected() error {
	for _, pr := range p.files.Protected {
		parts := strings.Split(pr.Name, "/")
		if slices.ContainsFunc(parts, func(s string) bool { return s == "" || s == "." || s == ".." || strings.IndexByte(s, 0) >= 0 }) {
			return &wire.Fault{Code: wire.CodePolicy, Op: "protected name", Path: pr.Name, Detail: "is not a sequence of names"}
		}
		p.sequences = append(p.sequences, Sequence{Name: pr.Name, Parts: parts, Tree: pr.Dir, Git: parts[0] == ".git", Reason: pr.Reason})
	}
	for i := range p.sequences {
		s := &p.sequences[i]
		p.heads[p.key(s.Parts[0])] = append(p.heads[p.key(s.Parts[0])], s)
	}
	return nil
}

// protect marks the protected names that exist inside writable trees, down to ScanDepth directories.
func (p *Policy) protect() error {
	if len(p.sequences) == 0 && !p.files.GitRules {
		return nil
	}
	for _, m := range p.beginnings(func(m *Mark) bool { return m.AllowWrite != "" || p.reopened(m) }) {
		p.protectNamed(m)
	}
	p.userGitConfig()
	for _, m := range p.beginnings(func(m *Mark) bool { return m.Kind != Dir && p.reopened(m) }) { // directories are roots
		p.enclosingRepository(m.Path)
	}
	for _, root := range p.roots() {
		p.enclosingRepository(root)
		p.scan(root)
	}
	return nil
}

// beginnings gives the marks that f picks, by path.
func (p *Policy) beginnings(f func(*Mark) bool) []*Mark {
	var out []*Mark
	for _, m := range p.marks {
		if f(m) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *Mark) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// reopened says that an AllowRead inside a read-denied part of a writable tree begins a writable tree here: nothing above it is searched.
func (p *Policy) reopened(m *Mark) bool {
	return m.AllowRead != "" && m.Kind != Missing && p.Writable(m.Path) && p.Hidden(parent(m.Path))
}

// roots are the directories where a writable tree begins.
func (p *Policy) roots() []string {
	var out []string
	for _, m := range p.marks {
		if (m.AllowWrite != "" || m.AllowRead != "") && m.Kind == Dir && p.Writable(m.Path) {
			if up := parent(m.Path); up == m.Path || !p.Writable(up) {
				out = append(out, m.Path)
			}
		}
	}
	slices.Sort(out)
	return out
}

// protectNamed looks at a path where a writable tree begins and whose own name is part of a protected sequence: naming it does not lift the
// protection.
// A protected directory above the working directory does not count: whoever works inside it means to.
func (p *Policy) protectNamed(m *Mark) {
	names := slices.Collect(components(m.Path))
	for i := range p.sequences {
		s := &p.sequences[i]
		for j := 1; j < len(s.Parts); j++ {
			if p.endsWith(names, s.Parts[:j]) && m.Kind != File {
				p.addDeny(child(m.Path, strings.Join(s.Parts[j:], "/")), s.Rule())
			}
		}
		for n, q := len(names), m.Path; n >= len(s.Parts); n, q = n-1, parent(q) {
			if p.endsWith(names[:n], s.Parts) && (n == len(names) || s.Tree) && (p.opts.Dir == "" || !inside(p.opts.Dir, q)) {
				p.noteProtected(m, s)
				p.addDeny(q, s.Rule())
			}
		}
	}
}

func (p *Policy) noteProtected(m *Mark, s *Sequence) {
	if m.AllowWrite != "" {
		p.note("%s %q: protected (%s)", allowWrite, m.AllowWrite, s.Rule())
	} else {
		p.note("%s %q: may be read, but it is protected from writing (%s)", allowRead, m.AllowRead, s.Rule())
	}
}

func (p *Policy) endsWith(names, tail []string) bool {
	if len(names) < len(tail) {
		return false
	}
	for i, t := range tail {
		if p.key(names[len(names)-len(tail)+i]) != p.key(t) {
			return false
		}
	}
	return true
}

// scan lists directories level by level and marks what it finds. Plain directories are all alike to it, node_modules too: what a
// package brings along would be run by the same editors and shells.
func (p *Policy) scan(root string) {
	level := []string{root}
	names := p.wanted()
	depth := min(max(p.files.ScanDepth, 1), 10)
	for n := 1; n <= depth && len(level) > 0; n++ {
		lists := make([]listing, len(level))
		each(p.fs, len(level), func(i int) { p.list(level[i], names, n < depth, &lists[i]) })
		var next []string
		for i, dir := range level {
			for _, name := range p.protectIn(dir, &lists[i]) {
				if sub := child(dir, name); p.Writable(sub) {
					next = append(next, sub)
				}
			}
		}
		level = next
	}
}

// listing is what the search needs to know of one directory.
type listing struct {
	heads               []entry // names that a protected sequence begins with
	dirs                []string
	head, objects, refs bool // all three: a bare repository
	err                 error
}

type entry struct {
	name string
	kind Kind
}

// wanted are the names that the search looks for; nil where their spelling is open.
func (p *Policy) wanted() []string {
	if p.opts.FoldCase {
		return nil
	}
	names := []string{".git", "HEAD", "objects", "refs"}
	for head := range p.heads {
		if head != ".git" {
			names = append(names, head)
		}
	}
	return names
}

// list changes nothing but l: several may run at once.
func (p *Policy) list(dir string, names []string, wantDirs bool, l *listing) {
	visit := func(raw []byte, kind Kind) {
		if p.isHead(raw) {
			l.heads = append(l.heads, entry{string(raw), kind})
		}
		switch kind {
		case Dir:
			switch string(raw) {
			case "objects":
				l.objects = true
			case "refs":
				l.refs = true
			}
			if wantDirs {
				l.dirs = append(l.dirs, string(raw))
			}
		case File, Link:
			l.head = l.head || string(raw) == "HEAD"
		}
	}
	if f, ok := p.fs.(Finder); ok && names != nil {
		l.err = f.Find(dir, names, wantDirs, visit)
		return
	}
	l.err = p.fs.ReadDir(dir, visit)
}

// protectIn marks the protected names in one directory and gives the directories to search next.
func (p *Policy) protectIn(dir string, l *listing) []string {
	if l.err != nil {
		p.note("%q: not searched for protected names: %v", dir, l.err)
		if closed := p.unlisted(dir, l.err); closed != "" {
			p.addDeny(closed, closedRule)
			return nil
		}
	}
	if p.files.GitRules && l.head && l.objects && l.refs {
		p.gitDir(dir, "") // and a directory like any other: three empty names make a bare repository of it
	}
	git := false
	for _, h := range l.heads {
		if p.files.GitRules && p.key(h.name) == ".git" {
			p.repository(dir, h.name, h.kind)
			git = true
			continue
		}
		for _, s := range p.heads[p.key(h.name)] {
			p.protectExisting(dir, h.name, s)
		}
	}
	if git {
		return slices.DeleteFunc(l.dirs, func(name string) bool { return p.key(name) == ".git" })
	}
	return l.dirs
}

func (p *Policy) isHead(raw []byte) bool {
	if p.opts.FoldCase {
		return p.heads[foldCase(string(raw))] != nil || p.files.GitRules && foldCase(string(raw)) == ".git"
	}
	return len(raw) > 0 && p.heads[string(raw)] != nil || p.files.GitRules && string(raw) == ".git"
}

// protectExisting marks a sequence whose first name exists in dir. When a link stands for a part of it, or that first name has another path,
// the place that it leads to is protected by path, also when nothing is there yet.
func (p *Policy) protectExisting(dir, head string, s *Sequence) {
	path := child(dir, head)
	if len(s.Parts) > 1 {
		path = child(path, strings.Join(s.Parts[1:], "/"))
	}
	pl := p.start.resolve(path, true)
	same, _ := p.elsewhere(child(dir, head))
	if pl.kind != Missing || len(pl.links) > 0 || len(same) > 0 || p.closed(&pl) != "" {
		p.addDeny(path, s.Rule())
	}
}
