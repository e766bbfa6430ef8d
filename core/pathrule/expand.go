package pathrule

import (
	"fmt"

	"github.com/srt-dev/srt/core/wire"
)

// maxVisits bounds what patterns may look at, all together, in directory entries.
const maxVisits = 1_000_000

// pattern is an entry that is a glob.
type pattern struct {
	list  list
	entry wire.PathEntry
	glob  *Glob
}

// thread is one pattern on its way through a directory.
type thread struct {
	n     int // index of the pattern
	state globState
}

// visit is one directory to list.
type visit struct {
	dir     string
	threads []thread
}

// expand marks what the patterns match now. One walk serves all of them; with follow it goes through links to directories too, and it
// ends because no pattern comes to a directory twice in the same state.
func (p *Policy) expand(patterns []pattern, follow bool, followed *[]linked) error {
	type been struct {
		dir string
		n   int
	}
	seen := map[been]globState{}
	var queue []visit
	push := func(dir string, threads []thread) {
		var fresh []thread
		for _, t := range threads {
			k := been{dir, t.n}
			if old := seen[k]; old|t.state != old {
				seen[k] = old | t.state
				fresh = append(fresh, t)
			}
		}
		if len(fresh) > 0 {
			queue = append(queue, visit{dir, fresh})
		}
	}
	roots := map[string][]thread{}
	var order []string
	for i := range patterns {
		dir, err := p.rebase(&patterns[i])
		if err != nil {
			return err
		}
		if dir == "" {
			continue
		}
		g := patterns[i].glob
		s := g.run(dir)
		if g.namesDir(s) {
			if err := p.hit(&patterns[i], dir, followed); err != nil {
				return err
			}
			continue
		}
		if roots[dir] == nil {
			order = append(order, dir)
		}
		roots[dir] = append(roots[dir], thread{i, s})
	}
	for _, dir := range order {
		push(dir, roots[dir])
	}
	visits := 0
	for len(queue) > 0 {
		v := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		type found struct {
			name    string
			kind    Kind
			threads []thread
			hits    []int
		}
		var list []found
		err := p.fs.ReadDir(v.dir, func(raw []byte, kind Kind) {
			visits++
			var f found
			for _, t := range v.threads {
				g := patterns[t.n].glob
				s := g.next(t.state, string(raw))
				if s == 0 {
					continue
				}
				switch {
				case kind == Dir && g.namesDir(s):
					f.hits = append(f.hits, t.n) // the directory itself stands for all inside
					continue
				case g.accepts(s):
					f.hits = append(f.hits, t.n)
				}
				if g.live(s) && (kind == Dir || kind == Link && follow) {
					f.threads = append(f.threads, thread{t.n, s})
				}
			}
			if f.hits != nil || f.threads != nil {
				f.name, f.kind = string(raw), kind
				list = append(list, f)
			}
		})
		if err != nil {
			p.note("%q: not searched for matches of %q: %v", v.dir, patterns[v.threads[0].n].entry.Rule, err)
		}
		if visits > maxVisits {
			e := patterns[v.threads[0].n]
			return fault(e.list, e.entry, fmt.Sprintf("more than %d files had to be looked at below %q", maxVisits, e.glob.base), "begin the pattern with the directories that it is about")
		}
		for _, f := range list {
			path := child(v.dir, f.name)
			for _, n := range f.hits {
				if err := p.hit(&patterns[n], path, followed); err != nil {
					return err
				}
			}
			switch {
			case f.threads == nil:
			case f.kind == Dir:
				push(path, f.threads)
			default:
				if err := p.throughLink(patterns, path, f.threads, push); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// throughLink continues a walk in the directory that a link leads to.
func (p *Policy) throughLink(patterns []pattern, link string, threads []thread, push func(string, []thread)) error {
	pl := p.start.resolve(link, true)
	if pl.kind != Dir {
		return nil
	}
	var on []thread
	for _, t := range threads {
		if !patterns[t.n].glob.namesDir(t.state) {
			on = append(on, t)
		} else if err := p.hit(&patterns[t.n], link, nil); err != nil {
			return err
		}
	}
	push(pl.path, on)
	return nil
}

// rebase moves a pattern to where its literal directory really leads and gives that directory, "" when there is none now.
func (p *Policy) rebase(pt *pattern) (string, error) {
	if pt.glob.base == "/" {
		p.keepLive(pt)
		return "/", nil
	}
	pl := p.start.resolve(pt.glob.base, true)
	if pl.loop || pl.kind == Missing && pl.aboveKind != Dir {
		p.note("%s %q: %q is not a directory", pt.list, ruleOf(pt.entry), pt.glob.base)
		return "", nil
	}
	if pl.path != pt.glob.base {
		g, err := pt.glob.Rebase(pl.path)
		if err != nil {
			return "", fault(pt.list, pt.entry, err.Error(), "")
		}
		pt.glob = g
	}
	if pt.list == denyWrite {
		for _, link := range pl.links {
			p.denyMark(link, Link, ruleOf(pt.entry))
		}
	}
	if p.keepLive(pt); pl.kind != Dir {
		return "", nil
	}
	return pl.path, nil
}

func (p *Policy) keepLive(pt *pattern) {
	switch live := (LiveGlob{pt.glob, ruleOf(pt.entry)}); {
	case pt.list == denyWrite:
		p.globs = append(p.globs, live)
	case pt.list == denyRead && p.opts.LateReads:
		p.lateReads = append(p.lateReads, live)
	}
}

func (p *Policy) hit(pt *pattern, path string, followed *[]linked) error {
	switch pt.list {
	case denyWrite:
		p.addDeny(path, ruleOf(pt.entry))
	case denyRead, allowRead:
		p.addRead(pt.list, path, ruleOf(pt.entry))
	case allowWrite:
		if pl := p.start.resolve(path, true); !pl.loop && pl.kind != Missing {
			return p.addAllow(pt.entry, pl, followed)
		}
	}
	return nil
}
