package pathrule

import "strings"

// judgeCreate judges a name that comes into being at path by whatever road; asLink: as a symbolic link. An allowWrite entry that did not
// exist may be made as a file or directory, never as a link: the next run would follow it.
func (p *Policy) judgeCreate(op Op, path string, asLink bool) Decision {
	if d := p.judgeWrite(path); !d.Allowed {
		return d
	}
	up := parent(path)
	if m := p.marks[p.key(path)]; !p.Writable(up) && (op != OpCreate && op != OpMkdir || m == nil || m.AllowWrite == "" || m.Kind != Missing || p.Hidden(up)) {
		return deny("", "the directory above %s is not writable", path)
	}
	if asLink {
		if m := p.prefix[p.key(path)]; m != nil {
			return deny(m.DenyWrite, "a link may not stand for a part of the protected %s", m.Path)
		}
	}
	if g := p.gitDirs[p.key(up)]; g != nil && !g.Allows(base(path)) {
		return deny(GitRule, "%s is not what git work makes", path)
	}
	return p.judgeSequences(path, asLink)
}

// judgeSequences asks for each directory above path whether a protected sequence of names begins in it and reaches path.
func (p *Policy) judgeSequences(path string, asLink bool) Decision {
	rest := base(path)
	for dir := parent(path); ; dir = parent(dir) {
		head, _, _ := strings.Cut(rest, "/")
		for _, s := range p.heads[p.key(head)] {
			name := p.key(s.Name)
			r := p.key(rest)
			switch {
			case r == name || s.Tree && strings.HasPrefix(r, name+"/"):
			case asLink && strings.HasPrefix(name, r+"/"):
			default:
				continue
			}
			if p.counts(s, dir, child(dir, head)) {
				return deny(s.Rule(), "%s is protected in every directory that was there before", s.Name)
			}
		}
		if parent(dir) == dir || !p.Writable(dir) {
			return allow("")
		}
		rest = base(dir) + "/" + rest
	}
}

// counts says whether a sequence that begins in dir, with its first name at head, is protected: dir is in a writable tree and was there
// when the command started, and so was the git directory.
func (p *Policy) counts(s *Sequence, dir, head string) bool {
	if !p.Writable(dir) || p.fs.BornAfterStart(dir) {
		return false
	}
	return !s.Git || p.fs.Lstat(head) != Dir || !p.fs.BornAfterStart(head)
}

// judgeBrings judges what a directory that is renamed from a to b carries to protected places. A link on the way counts as a hit.
func (p *Policy) judgeBrings(a, b string) Decision {
	if p.prefix[p.key(b)] != nil {
		for _, m := range p.marks {
			if m.DenyWrite != "" && m.Path != b && inside(p.key(m.Path), p.key(b)) && p.reaches(a, m.Path[len(b)+1:]) {
				return deny(m.DenyWrite, "%s would come into being", m.Path)
			}
		}
	}
	rest := base(b)
	for dir := parent(b); ; dir = parent(dir) {
		first, _, _ := strings.Cut(rest, "/")
		for _, s := range p.heads[p.key(first)] {
			tail, ok := strings.CutPrefix(p.key(s.Name), p.key(rest)+"/")
			if !ok || !p.reaches(a, tail) {
				continue
			}
			head := child(dir, first)
			if head == b {
				head = a // not there yet
			}
			if p.counts(s, dir, head) {
				return deny(s.Rule(), "%s would come into being", s.Name)
			}
		}
		if parent(dir) == dir || !p.Writable(dir) {
			break
		}
		rest = base(dir) + "/" + rest
	}
	for i := range p.globs {
		g := &p.globs[i]
		if g.Glob.MayMatchBelow(b) && p.bringsMatch(g.Glob, a, b) {
			return deny(g.Rule, "a match of the pattern would come into being")
		}
		if to := g.Glob.LiteralBase(); to != b && inside(p.key(to), p.key(b)) && p.linkOn(a, to[len(b)+1:]) {
			return deny(g.Rule, "a link may not stand for a part of %s", to)
		}
	}
	return allow("")
}

// linkOn says whether the way from dir along rest meets a link.
func (p *Policy) linkOn(dir, rest string) bool {
	for name := range components(rest) {
		dir = child(dir, name)
		switch p.fs.Lstat(dir) {
		case Link:
			return true
		case Dir:
		default:
			return false
		}
	}
	return false
}

func (p *Policy) reaches(dir, rest string) bool {
	for name := range components(rest) {
		dir = child(dir, name)
		switch p.fs.Lstat(dir) {
		case Missing:
			return false
		case Link:
			return true
		}
	}
	return true
}

func (p *Policy) bringsMatch(g *Glob, from, to string) bool {
	found := false
	var dirs []string
	err := p.fs.ReadDir(from, func(raw []byte, kind Kind) {
		name := string(raw)
		found = found || g.Match(child(to, name))
		if kind == Dir {
			dirs = append(dirs, name)
		}
	})
	if found || err != nil {
		return true
	}
	for _, name := range dirs {
		if g.MayMatchBelow(child(to, name)) && p.bringsMatch(g, child(from, name), child(to, name)) {
			return true
		}
	}
	return false
}
