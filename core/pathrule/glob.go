package pathrule

import (
	"errors"
	"fmt"
	"strings"
)

// maxSegments bounds the components of a pattern: one bit of a globState each, and one to accept.
const maxSegments = 63

// Glob is a pattern over absolute paths, read as git reads one with a leading "/": "*" and "?" stay within a component, "[…]" is a
// set of bytes, a component "**" stands for any number of directories (at the end: for everything inside), "\" takes the next byte
// literally. A leading dot is nothing special. Matching costs at most pattern × path steps.
type Glob struct {
	text string
	segs []segment
	base string
	fold bool
}

// globState is the set of numbers i such that the first i components of the pattern are used up.
type globState uint64

// ParseGlob reads a pattern. Errors name what is wrong with it and do not repeat it.
func ParseGlob(pattern string) (*Glob, error) { return parseGlob(pattern, false) }

// ParseGlobFold is ParseGlob for file systems that ignore case.
func ParseGlobFold(pattern string) (*Glob, error) { return parseGlob(pattern, true) }

func parseGlob(pattern string, fold bool) (*Glob, error) {
	rest := strings.TrimPrefix(pattern, "/")
	switch {
	case !isAbs(pattern):
		return nil, errors.New("a pattern must be absolute")
	case rest == "":
		return nil, errors.New("an empty pattern")
	case strings.IndexByte(pattern, 0) >= 0:
		return nil, errors.New("a pattern cannot contain a NUL byte")
	case strings.HasSuffix(rest, "/"):
		return nil, errors.New(`a pattern cannot end in "/": leave it out, or end in "/**" for what is inside`)
	}
	parts := strings.Split(rest, "/")
	if len(parts) > maxSegments {
		return nil, fmt.Errorf("a pattern may have at most %d components", maxSegments)
	}
	g := &Glob{text: pattern, fold: fold, segs: make([]segment, 0, len(parts))}
	literal := true
	lead := ""
	if strings.HasPrefix(pattern, "/") {
		lead = "/"
	}
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return nil, errors.New(`a pattern cannot contain "//", "." or ".." as a component`)
		}
		s, err := parseSegment(part, fold)
		if err != nil {
			return nil, err
		}
		if n := len(g.segs); s.any && n > 0 && g.segs[n-1].any {
			continue // "**/**" means the same as "**"
		}
		if literal = literal && !s.any && s.ops == nil; literal && i < len(parts)-1 {
			g.base = join(g.base, unescape(part), lead)
		}
		g.segs = append(g.segs, s)
	}
	if g.base == "" {
		g.base = "/"
	}
	return g, nil
}

func join(base, name, lead string) string {
	switch {
	case base == "" && lead == "" && strings.HasSuffix(name, ":"):
		return name + "/" // a volume
	case base == "":
		return lead + name
	}
	return child(base, name)
}

// String gives the pattern as it was parsed.
func (g *Glob) String() string { return g.text }

// LiteralBase is the longest leading directory without pattern characters: every match lies below it.
func (g *Glob) LiteralBase() string { return g.base }

// Match says whether the whole path matches.
func (g *Glob) Match(path string) bool { return g.accepts(g.run(path)) }

// Covers says whether the path or a directory above it matches.
func (g *Glob) Covers(path string) bool {
	s := g.start()
	for name := range components(path) {
		if s = g.next(s, name); g.accepts(s) {
			return true
		}
	}
	return false
}

// MayMatchBelow says whether something below dir could match, so that a walk has to look there.
func (g *Glob) MayMatchBelow(dir string) bool { return g.live(g.run(dir)) }

// Rebase gives the same pattern below another directory in place of LiteralBase: where that one really leads.
func (g *Glob) Rebase(base string) (*Glob, error) {
	if base == g.base {
		return g, nil
	}
	tail := strings.Split(strings.TrimPrefix(g.text, "/"), "/")
	for range components(g.base) {
		tail = tail[1:]
	}
	return parseGlob(child(escape(base), strings.Join(tail, "/")), g.fold)
}

// deep says whether the part behind LiteralBase begins with "**".
func (g *Glob) deep() bool {
	for _, s := range g.segs {
		if s.any || s.ops != nil {
			return s.any
		}
	}
	return false
}

func (g *Glob) run(path string) globState {
	s := g.start()
	for name := range components(path) {
		if s = g.next(s, name); s == 0 {
			return 0
		}
	}
	return s
}

func (g *Glob) start() globState { return g.closure(1) }

// closure adds what "**" reaches without using up a component. A "**" at the end needs at least one.
func (g *Glob) closure(s globState) globState {
	for i := range len(g.segs) - 1 {
		if s&(1<<i) != 0 && g.segs[i].any {
			s |= 1 << (i + 1)
		}
	}
	return s
}

func (g *Glob) next(s globState, name string) globState {
	if s == 0 {
		return 0
	}
	if g.fold {
		name = foldCase(name)
	}
	var out globState
	for i, seg := range g.segs {
		switch {
		case s&(1<<i) == 0:
		case seg.any:
			out |= 1 << i
			if i == len(g.segs)-1 {
				out |= 1 << (i + 1)
			}
		case seg.match(name):
			out |= 1 << (i + 1)
		}
	}
	return g.closure(out)
}

func (g *Glob) accepts(s globState) bool { return s&(1<<len(g.segs)) != 0 }

// namesDir says that the pattern ends in "/**" and what is before it matched: a directory there is meant itself.
func (g *Glob) namesDir(s globState) bool {
	last := len(g.segs) - 1
	return g.segs[last].any && s&(1<<last) != 0
}

// live says that more components could lead to a match.
func (g *Glob) live(s globState) bool { return s&(1<<len(g.segs)-1) != 0 }
