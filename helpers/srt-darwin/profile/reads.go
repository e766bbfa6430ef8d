package profile

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// region is what lies below one allowRead that opens something, and below none deeper: the denials in it, and the allowances that
// end it.
type region struct {
	path   string // "" is the whole file system
	denied []*pathrule.Mark
	opened []string // allowances inside
}

// regions sorts the read marks by the allowance that governs them. The deepest mark decides, and at one path the allowance does.
func (g *generator) regions() []*region {
	root := &region{}
	all := []*region{root}
	stack := []*region{root} // marks come parents first
	for _, m := range g.readMarks() {
		for len(stack) > 1 && !inside(m.Path, stack[len(stack)-1].path) {
			stack = stack[:len(stack)-1]
		}
		r := stack[len(stack)-1]
		switch {
		case m.AllowRead == "":
			r.denied = append(r.denied, m)
		case g.coveredIn(r, m.Path):
			r.opened = append(r.opened, m.Path)
			next := &region{path: m.Path}
			all, stack = append(all, next), append(stack, next)
		}
	}
	return all
}

// readMarks are the marks about reading with the run's own temporary directory and binary among them, parents first.
func (g *generator) readMarks() []*pathrule.Mark {
	var out []*pathrule.Mark
	for _, m := range g.marks {
		if m.DenyRead != "" || m.AllowRead != "" {
			out = append(out, m)
		}
	}
	for _, own := range []string{g.TmpDir, g.Relay} {
		if own != "" {
			out = append(out, &pathrule.Mark{Path: own, Kind: pathrule.Dir, AllowRead: "srt: the run's own"})
		}
	}
	slices.SortStableFunc(out, func(a, b *pathrule.Mark) int { return pathrule.ComparePaths(a.Path, b.Path) })
	return out
}

// hidden gives filters for everything that may not be read.
func (g *generator) hidden() []sbpl.Node {
	var out []sbpl.Node
	for _, r := range g.regions() {
		denied := g.deniedIn(r)
		switch {
		case len(denied) == 0:
		case len(r.opened) == 0:
			out = append(out, denied...)
		default:
			opened := make([]sbpl.Node, len(r.opened))
			for i, path := range r.opened {
				opened[i] = one("subpath", g.exactly(path))
			}
			out = append(out, allOf(anyOf(denied), not(anyOf(opened))))
		}
	}
	return out
}

// deniedIn gives filters for the denials of a region: marks, and what patterns can match inside it.
func (g *generator) deniedIn(r *region) []sbpl.Node {
	var places []place
	for _, m := range r.denied {
		if !g.matched(m) {
			places = append(places, g.anySpelling(m.Path))
		}
	}
	out := g.filters(places, tree)
	for _, l := range g.Files.LateReads() {
		out = append(out, g.patternBelow(parsePattern(l.Glob), r.path)...)
	}
	return out
}

// matched says that a pattern covers a denial anyhow.
func (g *generator) matched(m *pathrule.Mark) bool {
	for _, l := range g.Files.LateReads() {
		if l.Glob.Match(m.Path) {
			return true
		}
	}
	return false
}

// coveredIn says whether a denial of the region, as far as it is known, covers path.
func (g *generator) coveredIn(r *region, path string) bool {
	for _, m := range r.denied {
		if inside(path, m.Path) {
			return true
		}
	}
	for _, l := range g.Files.LateReads() {
		for q := path; q != "/" && q != r.path; q = parent(q) {
			if l.Glob.Match(q) {
				return true
			}
		}
	}
	return false
}

// patternBelow gives filters for what p matches strictly below dir, with everything below each match; dir "" is the root.
func (g *generator) patternBelow(p pattern, dir string) []sbpl.Node {
	if dir == "" {
		return g.patternRegex(p.base, [][]segment{p.parts}, tree.suffix())
	}
	return g.patternRegex(dir, p.below(dir), tree.suffix())
}

// patternRegex gives filters for the components in rests, each below the literal directory base.
func (g *generator) patternRegex(base string, rests [][]segment, suffix string) []sbpl.Node {
	at := g.anySpelling(base)
	prefix := "^" + exact(strings.TrimSuffix(at.path[:at.fold], "/"))
	tail := at.path[at.fold:]
	if tail == "/" {
		tail = ""
	}
	var out []sbpl.Node
	for _, parts := range rests {
		text := prefix + widen(tail) + "/" + regex(parts, widen) + suffix
		if sbpl.Len(text) > sbpl.MaxString {
			text = prefix + blur(tail) + "/" + regex(parts, blur) + suffix
		}
		if sbpl.Len(text) > sbpl.MaxString {
			g.fail(base, "a pattern here is too long for a Seatbelt rule that matches every spelling of it", "write a shorter pattern")
			return nil
		}
		out = append(out, one("regex", text))
	}
	return out
}

// hiddenNames gives filters for what lies inside hidden directories: that a name is there is not told either. Where an allowance
// lies inside, programs look for files upwards and must find out that there are none.
func (g *generator) hiddenNames() []sbpl.Node {
	var out []sbpl.Node
	for _, r := range g.regions() {
		for _, m := range r.denied {
			opens := slices.ContainsFunc(r.opened, func(a string) bool { return inside(a, m.Path) })
			if m.Kind != pathrule.Dir || opens || g.matched(m) {
				continue
			}
			path := g.exactly(m.Path)
			out = append(out, allOf(one("subpath", path), not(one("literal", path))))
		}
	}
	return out
}

// passable gives filters for what may be looked at though it is hidden: the hidden places themselves, whose existence is no secret,
// and the directories on the way to what an allowance opens.
func (g *generator) passable() []sbpl.Node {
	var places []place
	add := func(path string) {
		real := g.exactly(path)
		places = append(places, place{real, len(real)})
	}
	for _, r := range g.regions() {
		for _, path := range r.opened {
			for up := parent(path); up != "/" && up != r.path && g.coveredIn(r, up); up = parent(up) {
				add(up)
			}
		}
		for _, m := range r.denied {
			if up := parent(m.Path); m.Kind != pathrule.Missing && (m.Path == "/" || !g.coveredIn(r, up)) {
				add(m.Path)
			}
		}
	}
	return g.filters(places, only)
}
