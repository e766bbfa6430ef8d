package pathrule

import (
	"fmt"
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// linked is an allowWrite or allowRead entry that leads through links.
type linked struct {
	list  list
	entry wire.PathEntry
	place place
}

// addEntries turns the four lists into marks: literal paths at once, patterns by what exists.
func (p *Policy) addEntries() error {
	var followed []linked
	var deny, allow []pattern
	for _, l := range []struct {
		name    list
		entries []wire.PathEntry
	}{{denyRead, p.files.DenyRead}, {allowRead, p.files.AllowRead}, {denyWrite, p.files.DenyWrite}, {allowWrite, p.files.AllowWrite}} {
		for _, e := range l.entries {
			if err := checkEntry(l.name, e); err != nil {
				return err
			}
			if e.Glob {
				exists := p.start.resolve(e.Path, true).kind != Missing
				g, err := parseGlob(e.Path, p.opts.FoldCase)
				if err != nil && !exists {
					return fault(l.name, e, err.Error(), `{"path": …, "literal": true} makes an entry that is no pattern`)
				}
				if err == nil {
					pt := pattern{list: l.name, entry: e, glob: g}
					if l.name == denyRead || l.name == denyWrite {
						deny = append(deny, pt)
					} else {
						allow = append(allow, pt)
					}
				}
				if !exists {
					continue
				}
			}
			if err := p.addLiteral(l.name, e, &followed); err != nil {
				return err
			}
		}
	}
	if err := p.expand(deny, true, nil); err != nil {
		return err
	}
	if err := p.expand(allow, false, &followed); err != nil {
		return err
	}
	return p.checkFollowed(followed)
}

func checkEntry(l list, e wire.PathEntry) error {
	switch {
	case e.Path == "":
		return fault(l, e, "the path is empty", "")
	case strings.IndexByte(e.Path, 0) >= 0:
		return fault(l, e, "a path cannot contain a NUL byte", "")
	case len(e.Path) > maxPath:
		return fault(l, e, fmt.Sprintf("%d bytes, a path has at most %d", len(e.Path), maxPath), "")
	case !isAbs(e.Path) || !e.Glob && !isClean(e.Path):
		return fault(l, e, fmt.Sprintf("%q is not an absolute, clean path (a bug, please report)", e.Path), "")
	}
	return nil
}

func (p *Policy) addLiteral(l list, e wire.PathEntry, followed *[]linked) error {
	rule := ruleOf(e)
	switch l {
	case denyRead, allowRead:
		p.addRead(l, e, e.Path, followed)
	case denyWrite:
		p.addDeny(e.Path, rule)
	case allowWrite:
		pl := p.start.resolve(e.Path, true)
		if pl.loop {
			return fault(l, e, fmt.Sprintf("%q is a symbolic link that leads nowhere", pl.path), "remove the entry or the link")
		}
		return p.addAllow(e, pl, followed)
	}
	return nil
}

func (p *Policy) addRead(l list, e wire.PathEntry, path string, followed *[]linked) {
	rule := ruleOf(e)
	pl := p.start.resolve(path, true)
	if l == denyRead { // replaced, they would lead the next run somewhere else
		for _, link := range pl.links {
			p.denyMark(link, Link, rule)
		}
	}
	if dir := p.closed(&pl); dir != "" && l == denyRead {
		p.note("%s %q: %q may not be searched, it is denied as a whole", l, rule, dir)
		pl.path, pl.kind = dir, Dir
	}
	if pl.loop || pl.kind == Missing && !p.opts.LateReads {
		p.note("%s %q: does not exist", l, rule)
		return
	}
	if l == denyRead {
		p.eachPlace(pl.path, pl.kind, func(m *Mark) {
			if m.DenyRead == "" {
				m.DenyRead = rule
			}
		})
	}
	if l == allowRead {
		m := p.mark(pl.path, pl.kind)
		p.allowReadMark(m, rule)
		if len(pl.links) == 0 {
			m.readDirect = true
		} else {
			*followed = append(*followed, linked{l, e, pl})
		}
		for _, link := range pl.links { // the way there stays passable under the name that was given
			p.allowReadMark(p.mark(link, Link), rule)
		}
	}
}

func (p *Policy) allowReadMark(m *Mark, rule string) {
	if m.AllowRead == "" {
		m.AllowRead = rule
	}
}

func (p *Policy) addAllow(e wire.PathEntry, pl place, followed *[]linked) error {
	if pl.kind == Missing && (pl.aboveKind != Dir || pl.above != parent(pl.path)) {
		p.note("%s %q: the directory above it does not exist, so nothing can be created there", allowWrite, ruleOf(e))
		return nil
	}
	m := p.mark(pl.path, pl.kind)
	if m.AllowWrite == "" {
		m.AllowWrite = ruleOf(e)
	}
	if len(pl.links) == 0 {
		m.direct = true
	} else {
		*followed = append(*followed, linked{allowWrite, e, pl})
	}
	return nil
}

// checkFollowed refuses an entry whose link a command could replace: the next run would follow it anywhere.
func (p *Policy) checkFollowed(followed []linked) error {
	for _, f := range followed {
		if f.list == allowWrite && p.coveredDirectly(f.place.path) || f.list == allowRead && !p.hiddenDirectly(f.place.path) {
			continue // writable, or readable, anyway
		}
		for _, link := range f.place.links {
			if p.Writable(parent(link)) {
				return fault(f.list, f.entry, fmt.Sprintf("%q is a symbolic link that leads to %q and lies in a directory that the command may write", link, f.place.path),
					fmt.Sprintf("name %q itself in %s, or remove the link", f.place.path, f.list))
			}
		}
	}
	return nil
}

// hiddenDirectly says whether path could not be read but for entries that lead through links.
func (p *Policy) hiddenDirectly(path string) bool {
	for q := p.key(path); ; q = parent(q) {
		if m := p.marks[q]; m != nil && (m.readDirect || m.DenyRead != "") {
			return !m.readDirect
		}
		if parent(q) == q {
			return false
		}
	}
}

func (p *Policy) coveredDirectly(path string) bool {
	for q := p.key(path); ; {
		if m := p.marks[q]; m != nil && m.direct {
			return true
		}
		up := parent(q)
		if up == q {
			return false
		}
		q = up
	}
}

// addDeny denies writing to where path leads and to every link on the way there.
func (p *Policy) addDeny(path, rule string) {
	pl := p.start.resolve(path, true)
	for _, link := range pl.links {
		p.denyMark(link, Link, rule)
	}
	switch dir := p.closed(&pl); {
	case pl.loop:
	case dir != "":
		p.note("%q (%s): %q may not be searched, writing there is denied as a whole", path, rule, dir)
		p.denyMark(dir, Dir, rule)
	case pl.kind == Missing && pl.aboveKind != Dir:
		p.denyMark(pl.above, pl.aboveKind, rule) // "f/x" where f is a file: f must stay one
	default:
		p.denyMark(pl.path, pl.kind, rule)
	}
}

func (p *Policy) denyMark(path string, kind Kind, rule string) {
	deny := func(m *Mark) {
		if m.DenyWrite == "" {
			m.DenyWrite = rule
		}
	}
	if len(p.files.AllowWrite) == 0 { // nothing is writable under any path
		deny(p.mark(path, kind))
		return
	}
	p.eachPlace(path, kind, deny)
}
