package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// reach is what a filter covers beside the place itself.
type reach bool

const (
	only reach = false // the place alone
	tree reach = true  // everything below it too
)

func (r reach) suffix() string {
	if r == tree {
		return "(/.*)?$"
	}
	return "$"
}

func (r reach) filter(path string) sbpl.Node {
	if r == tree {
		return one("subpath", path)
	}
	return one("literal", path)
}

// minGroup is how many exact places in one directory are worth a regex.
const minGroup = 6

// filters gives filters for places, few and each no longer than a profile takes: names in one directory share a regex. The result
// depends on the set of places only.
func (g *generator) filters(places []place, r reach) []sbpl.Node {
	places = slices.Clone(places)
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(parent(a.path), parent(b.path)), cmp.Compare(a.foldInParent(), b.foldInParent()), strings.Compare(a.path, b.path))
	})
	places = slices.Compact(places)
	var out []sbpl.Node
	for len(places) > 0 {
		n := 1
		for n < len(places) && parent(places[n].path) == parent(places[0].path) && places[n].foldInParent() == places[0].foldInParent() {
			n++
		}
		if group := places[:n]; group[0].exact() && n < minGroup {
			for _, p := range group {
				out = append(out, r.filter(p.path))
			}
		} else {
			out = append(out, g.regexes(group, r)...)
		}
		places = places[n:]
	}
	return out
}

func (p place) exact() bool { return p.fold == len(p.path) }

// foldInParent is fold as far as the parent is concerned; more than its length says that not even the name is folded.
func (p place) foldInParent() int {
	if p.exact() {
		return len(parent(p.path)) + 1
	}
	return p.fold
}

// regexes packs the names of a group, which have one parent, into as few expressions as fit.
func (g *generator) regexes(group []place, r reach) []sbpl.Node {
	dir := strings.TrimSuffix(parent(group[0].path), "/")
	fold := min(group[0].foldInParent(), len(dir))
	prefix := "^" + exact(dir[:fold]) + widen(dir[fold:]) + "/"
	if sbpl.Len(prefix) > sbpl.MaxString/2 {
		prefix = "^" + exact(dir[:fold]) + blur(dir[fold:]) + "/"
	}
	room := sbpl.MaxString - sbpl.Len(prefix) - sbpl.Len(r.suffix()) - len("()")
	names := make([]string, len(group))
	for i, p := range group {
		name := p.path[len(dir)+1:]
		switch names[i] = widen(name); {
		case p.exact():
			names[i] = exact(name)
		case sbpl.Len(names[i]) > room:
			names[i] = blur(name)
		}
		if sbpl.Len(names[i]) > room {
			g.fail(p.path, "is too long for a rule that matches every spelling of it", "name a directory above it")
			return nil
		}
	}
	var out []sbpl.Node
	for _, some := range pack(names, room) {
		out = append(out, one("regex", prefix+alternatives(some)+r.suffix()))
	}
	return out
}

func alternatives(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "(" + strings.Join(names, "|") + ")"
}
