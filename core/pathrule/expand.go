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

// visit is one directory to list, and what came of it.
type visit struct {
	dir     string
	threads []thread
	found   []found
	seen    int // entries looked at
	err     error
}

// found is one entry that a pattern matched or may match below.
type found struct {
	name    string
	kind    Kind
	threads []thread
	hits    []int
}

// walker is one walk through the file system for many patterns. It ends because no pattern comes to a directory twice in the same state.
type walker struct {
	patterns []pattern
	follow   bool // through links to directories too
	been     map[walked]globState
	queue    []visit
}

type walked struct {
	dir string
	n   int
}

func (w *walker) push(dir string, threads []thread) {
	var fresh []thread
	for _, t := range threads {
		k := walked{dir, t.n}
		if old := w.been[k]; old|t.state != old {
			w.been[k] = old | t.state
			fresh = append(fresh, t)
		}
	}
	if len(fresh) > 0 {
		w.queue = append(w.queue, visit{dir: dir, threads: fresh})
	}
}

// look lists one directory.
func (w *walker) look(fs FS, v *visit) {
	v.err = fs.ReadDir(v.dir, func(raw []byte, kind Kind) {
		v.seen++
		var f found
		for _, t := range v.threads {
			g := w.patterns[t.n].glob
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
			if g.live(s) && (kind == Dir || kind == Link && w.follow) {
				f.threads = append(f.threads, thread{t.n, s})
			}
		}
		if f.hits != nil || f.threads != nil {
			f.name, f.kind = string(raw), kind
			v.found = append(v.found, f)
		}
	})
}

// expand marks what the patterns match now. One walk serves all of them.
func (p *Policy) expand(patterns []pattern, follow bool, followed *[]linked) error {
	w := walker{patterns: patterns, follow: follow, been: map[walked]globState{}}
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
		w.push(dir, roots[dir])
	}
	total := 0
	for len(w.queue) > 0 {
		round := w.queue
		w.queue = nil
		for len(round) > 0 { // bounded pieces: a pattern that reaches too far is refused soon
			n := min(len(round), 1024)
			piece := round[:n]
			round = round[n:]
			each(p.fs, n, func(i int) { w.look(p.fs, &piece[i]) })
			for i := range piece {
				if total += piece[i].seen; total > maxVisits {
					e := patterns[piece[i].threads[0].n]
					return fault(e.list, e.entry, fmt.Sprintf("more than %d files had to be looked at below %q", maxVisits, e.glob.base), "begin the pattern with the directories that it is about")
				}
				if err := p.visited(&w, &piece[i], followed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// visited marks what one directory had and queues what has to be looked at next.
func (p *Policy) visited(w *walker, v *visit, followed *[]linked) error {
	if v.err != nil {
		p.note("%q: not searched for matches of %q: %v", v.dir, ruleOf(w.patterns[v.threads[0].n].entry), v.err)
		if dir := p.unlisted(v.dir, v.err); dir != "" {
			if err := p.hitWhole(w, v.threads, dir); err != nil {
				return err
			}
		}
	}
	for _, f := range v.found {
		path := child(v.dir, f.name)
		if len(path) > maxPath { // no system call of ours takes it; a process that works its way down is not stopped by that
			p.note("%q: what is in it lies too deep to be looked at", v.dir)
			if err := p.hitWhole(w, v.threads, v.dir); err != nil {
				return err
			}
			break
		}
		for _, n := range f.hits {
			if err := p.hit(&w.patterns[n], path, followed); err != nil {
				return err
			}
		}
		switch {
		case f.threads == nil:
		case f.kind == Dir:
			w.push(path, f.threads)
		default:
			if err := p.throughLink(w, path, f.threads); err != nil {
				return err
			}
		}
	}
	return nil
}

// hitWhole denies a directory for every denial that may match something in it.
func (p *Policy) hitWhole(w *walker, threads []thread, dir string) error {
	for _, t := range threads {
		if pt := &w.patterns[t.n]; pt.list == denyRead || pt.list == denyWrite {
			if err := p.hit(pt, dir, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// throughLink continues a walk in the directory that a link leads to.
func (p *Policy) throughLink(w *walker, link string, threads []thread) error {
	pl := p.start.resolve(link, true)
	if pl.kind != Dir {
		return nil
	}
	var on []thread
	for _, t := range threads {
		if !w.patterns[t.n].glob.namesDir(t.state) {
			on = append(on, t)
		} else if err := p.hit(&w.patterns[t.n], link, nil); err != nil {
			return err
		}
	}
	w.push(pl.path, on)
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
		p.keepElsewhere(pt)
	case pt.list == denyRead && p.opts.LateReads:
		p.lateReads = append(p.lateReads, live)
	}
}

// keepElsewhere lets a write denial by pattern hold under the other paths of its directory. Where only something inside that directory is
// shown, that is a pattern only when it begins with "**"; of others, what exists is denied there.
func (p *Policy) keepElsewhere(pt *pattern) {
	if len(p.files.AllowWrite) == 0 || pt.glob.base == "/" {
		return
	}
	same, below := p.elsewhere(pt.glob.base)
	if pt.glob.deep() {
		same = append(same, below...)
	} else if len(below) > 0 {
		p.note("%s %q: what comes into being under %q is not judged", pt.list, ruleOf(pt.entry), below)
	}
	for _, base := range same {
		if g, err := pt.glob.Rebase(base); err == nil {
			p.globs = append(p.globs, LiveGlob{g, ruleOf(pt.entry)})
		} else {
			p.note("%s %q: not judged under %q: %v", pt.list, ruleOf(pt.entry), base, err)
		}
	}
}

func (p *Policy) hit(pt *pattern, path string, followed *[]linked) error {
	switch pt.list {
	case denyWrite:
		p.addDeny(path, ruleOf(pt.entry))
	case denyRead, allowRead:
		p.addRead(pt.list, pt.entry, path, followed)
	case allowWrite:
		if pl := p.start.resolve(path, true); !pl.loop && pl.kind != Missing {
			return p.addAllow(pt.entry, pl, followed)
		}
	}
	return nil
}
