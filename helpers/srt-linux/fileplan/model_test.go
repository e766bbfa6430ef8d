package fileplan

import (
	"path"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// model is what the kernel and the supervisor make of a view, written down from the documents of package view and from nothing else:
// mounts decide by the deepest step above a path, and names are judged by doing the operation on a copy and looking at what is new.
type model struct {
	fs    *memfs.FS
	steps map[string]string // path → the step that is on top there
	names []view.Name
	globs map[string]*pathrule.Glob
}

func newModel(v *view.View, fs *memfs.FS) *model {
	m := &model{fs: fs, steps: map[string]string{}, names: v.Names, globs: map[string]*pathrule.Glob{}}
	for _, l := range []struct {
		word string
		list []view.Target
	}{{"write", v.Write}, {"reopen", v.Reopen}, {"readonly", v.ReadOnly}, {"hide", v.Hide}, {"once", v.CreateOnce}} {
		for _, t := range l.list {
			m.steps[t.Path] = l.word
			if t.Link {
				m.steps[t.Path] = l.word + " link"
			}
		}
	}
	for _, n := range v.Names {
		if n.Kind == view.NameGlob {
			g, err := pathrule.ParseGlob(n.Path)
			if err != nil {
				panic(err)
			}
			m.globs[n.Path] = g
		}
	}
	return m
}

// mount gives the step that a path is under and where it is attached. A step on a link covers the link alone.
func (m *model) mount(p string) (step, at string) {
	for q := p; ; q = path.Dir(q) {
		s := m.steps[q]
		switch {
		case strings.HasSuffix(s, " link"):
			if q == p {
				return strings.TrimSuffix(s, " link"), q
			}
		case s == "once":
			if m.fs.Lstat(q) != pathrule.Missing {
				return "write", q
			}
		case s != "":
			return s, q
		}
		if q == "/" {
			return "readonly", "/"
		}
	}
}

func (m *model) writable(p string) bool { s, _ := m.mount(p); return s == "write" }

// visible says whether a name can be looked up: inside a hidden directory only what leads to something that is opened again.
func (m *model) visible(p string) bool {
	s, at := m.mount(p)
	if s != "hide" || at == p {
		return true
	}
	for q, step := range m.steps {
		if step != "readonly" && step != "hide" && strings.HasPrefix(q, p+"/") {
			return true
		}
	}
	return false
}

// walk resolves p as the kernel would inside.
func (m *model) walk(p string, follow bool) (string, bool) {
	for hops := 0; hops < 50; hops++ {
		cur, rest := "/", strings.Split(strings.Trim(p, "/"), "/")
		again := false
		for i, name := range rest {
			switch name {
			case "", ".":
				continue
			case "..":
				cur = path.Dir(cur)
				continue
			}
			cur = path.Join(cur, name)
			if !m.visible(cur) {
				return cur, false
			}
			if m.fs.Lstat(cur) == pathrule.Link && (follow || i < len(rest)-1) {
				target := m.fs.Readlink(cur)
				if !strings.HasPrefix(target, "/") {
					target = path.Dir(cur) + "/" + target
				}
				p, again = target+"/"+strings.Join(rest[i+1:], "/"), true
				break
			}
		}
		if !again {
			return cur, true
		}
	}
	return p, false
}

// allowed says whether the operation would go through. other: the answer does not count, because mounts give EXDEV for what the
// policy has nothing against.
func (m *model) allowed(op pathrule.Op, p, to string) (ok, other bool) {
	follow := op != pathrule.OpMkdir && op != pathrule.OpRemove && op != pathrule.OpRename && op != pathrule.OpLink && op != pathrule.OpSymlink
	a, seen := m.walk(p, follow)
	if !seen {
		return false, false
	}
	exists := m.fs.Lstat(a) != pathrule.Missing
	step, at := m.mount(a)
	switch op {
	case pathrule.OpStat:
		return true, false
	case pathrule.OpRead, pathrule.OpList, pathrule.OpExec:
		return step != "hide", false
	case pathrule.OpWrite, pathrule.OpTruncate, pathrule.OpChmod:
		return step == "write", false
	case pathrule.OpCreate, pathrule.OpMkdir, pathrule.OpSymlink:
		if exists {
			return step == "write", false
		}
		if m.steps[a] == "once" && op != pathrule.OpSymlink {
			return m.namesAllow(op, p, ""), false
		}
		return m.writable(path.Dir(a)) && m.namesAllow(op, p, ""), false
	case pathrule.OpRemove:
		return m.writable(path.Dir(a)) && m.steps[a] == "" && m.namesAllow(op, p, ""), false
	}
	b, seen := m.walk(to, false)
	if !seen {
		return false, false
	}
	_, atDir := m.mount(path.Dir(a))
	_, btDir := m.mount(path.Dir(b))
	if op == pathrule.OpLink {
		return step == "write" && m.writable(path.Dir(b)) && m.namesAllow(op, p, to), at != btDir
	}
	return m.writable(path.Dir(a)) && m.writable(path.Dir(b)) && m.steps[a] == "" && m.steps[b] == "" && m.namesAllow(op, p, to), atDir != btDir
}

// namesAllow does the operation on a copy and asks of each difference whether a rule forbids it.
func (m *model) namesAllow(op pathrule.Op, p, to string) bool {
	after := m.fs.Clone()
	var err error
	switch op {
	case pathrule.OpRename, pathrule.OpLink:
		err = after.Pair(op, p, to)
	case pathrule.OpSymlink:
		err = after.Symlink("x", p)
	default:
		err = after.Do(op, p)
	}
	if err != nil {
		return true // never gets as far
	}
	top := "" // the name that came into being; more may come with it
	if op == pathrule.OpRename {
		top, _ = m.walk(to, false)
	}
	for _, q := range m.fs.Paths() {
		if m.fs.ID(q) != after.ID(q) && !m.mayGo(q) {
			return false
		}
	}
	for _, q := range after.Paths() {
		if m.fs.ID(q) != after.ID(q) && !m.mayCome(q, top, after) {
			return false
		}
	}
	return true
}

// mayGo: what was at q is renamed, removed or replaced.
func (m *model) mayGo(q string) bool {
	for _, n := range m.names {
		switch n.Kind {
		case view.NamePath:
			if q == n.Path {
				return false
			}
		case view.NameGitDir:
			if path.Dir(q) == n.Path && !gitAllows(n, path.Base(q)) {
				return false
			}
		}
	}
	return true
}

func gitAllows(n view.Name, name string) bool {
	g := pathrule.GitDir{Path: n.Path, Open: n.Open}
	return g.Allows(name)
}

func (m *model) mayCome(q, top string, after *memfs.FS) bool {
	link := after.Lstat(q) == pathrule.Link
	for _, n := range m.names {
		switch n.Kind {
		case view.NamePath:
			if q == n.Path || n.Tree && strings.HasPrefix(q, n.Path+"/") || link && strings.HasPrefix(n.Path, q+"/") {
				return false
			}
		case view.NameGlob:
			g := m.globs[n.Path]
			if base := g.LiteralBase(); g.Match(q) || n.Tree && g.Covers(q) || link && (q == base || strings.HasPrefix(base, q+"/")) {
				return false
			}
		case view.NameGitDir:
			if path.Dir(q) == n.Path && !gitAllows(n, path.Base(q)) {
				return false
			}
		case view.NameSequence:
			if !m.maySequence(n, q, top, link, after) {
				return false
			}
		}
	}
	return true
}

func (m *model) maySequence(n view.Name, q, top string, link bool, after *memfs.FS) bool {
	parts := strings.Split(strings.Trim(q, "/"), "/")
	for i := range parts {
		rest := strings.Join(parts[i:], "/")
		if rest != n.Path && !(n.Tree && strings.HasPrefix(rest, n.Path+"/")) && !(link && strings.HasPrefix(n.Path, rest+"/")) {
			continue
		}
		dir := "/" + strings.Join(parts[:i], "/")
		if !m.writable(dir) || after.BornAfterStart(dir) || top != "" && (dir == top || strings.HasPrefix(dir, top+"/")) {
			continue
		}
		head := path.Join(dir, parts[i])
		if n.Git && after.Lstat(head) == pathrule.Dir && after.BornAfterStart(head) {
			continue
		}
		return false
	}
	return true
}
