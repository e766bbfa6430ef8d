package profile

import (
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
		switch {
		case a.dir() != b.dir():
			return strings.Compare(a.dir(), b.dir())
		case a.exact() != b.exact():
			return len(a.path) - a.fold - len(b.path) + b.fold
		}
		return strings.Compare(a.path, b.path)
	})
	places = slices.Compact(places)
	var out []sbpl.Node
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].dir() == places[0].dir() && places[n].exact() == places[0].exact() {
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

// dir is the part that all places of a group share and that is written exactly.
func (p place) dir() string {
	if p.exact() {
		return parent(p.path)
	}
	return p.path[:p.fold]
}

func (p place) exact() bool { return p.fold == len(p.path) }

// rest is what stands below dir, as a regex.
func (p place) rest(limit int) string {
	tail := strings.TrimPrefix(p.path[len(p.dir()):], "/")
	if p.exact() {
		return exact(tail)
	}
	if s := widen(tail); sbpl.Len(s) <= limit {
		return s
	}
	return blur(tail)
}

// regexes packs the names of a group into as few expressions as fit.
func (g *generator) regexes(group []place, r reach) []sbpl.Node {
	prefix := "^" + exact(strings.TrimSuffix(group[0].dir(), "/")) + "/"
	room := sbpl.MaxString - sbpl.Len(prefix) - sbpl.Len(r.suffix()) - len("()")
	names := make([]string, len(group))
	for i, p := range group {
		if names[i] = p.rest(room); sbpl.Len(names[i]) > room {
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
