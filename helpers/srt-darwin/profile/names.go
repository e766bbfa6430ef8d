package profile

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// denyNames gives filters for what is protected by name wherever it is, and for the patterns of denyWrite. They hold in the run's own
// temporary directory too: a directory could be renamed there and back.
func (g *generator) denyNames() []sbpl.Node {
	var out []sbpl.Node
	for _, l := range g.Files.Globs() {
		p := parsePattern(l.Glob)
		out = append(out, g.patternRegex(p.base, [][]segment{p.parts}, tree.suffix())...)
	}
	var names []string
	for _, s := range g.Files.Sequences() {
		names = append(names, s.Name)
	}
	out = append(out, g.anywhere(names, tree.suffix())...)
	return append(out, g.gitDirs()...)
}

// heads gives filters for the leading parts of protected sequences and of patterns: ".claude" of ".claude/hooks". Who could make one
// could also rename a prepared directory to it.
func (g *generator) heads() []sbpl.Node {
	var names []string
	for _, s := range g.Files.Sequences() {
		for i := 1; i < len(s.Parts); i++ {
			names = append(names, strings.Join(s.Parts[:i], "/"))
		}
	}
	slices.Sort(names)
	out := g.anywhere(slices.Compact(names), "$")
	for _, l := range g.Files.Globs() {
		p := parsePattern(l.Glob)
		for i := 1; i < len(p.parts); i++ {
			if _, ok := p.parts[i-1].literal(); ok {
				out = append(out, g.patternRegex(p.base, [][]segment{p.parts[:i]}, "$")...)
			}
		}
	}
	return out
}

// anywhere gives filters for sequences of names in every directory of a writable tree. A tree that itself lies below such a name
// counts from where it begins: who works inside ".vscode" means to.
func (g *generator) anywhere(sequences []string, suffix string) []sbpl.Node {
	if len(sequences) == 0 {
		return nil
	}
	var inner []string
	for _, root := range g.writable {
		if g.containsSequence(root) {
			inner = append(inner, root)
		}
	}
	out := g.byName("^/(.*/)?", sequences, suffix)
	if len(inner) == 0 {
		return out
	}
	var trees []sbpl.Node
	for _, root := range inner {
		trees = append(trees, one("subpath", root))
	}
	out = []sbpl.Node{allOf(anyOf(out), not(anyOf(trees)))}
	for _, root := range inner {
		out = append(out, g.byName("^"+exact(root)+"/(.*/)?", sequences, suffix)...)
	}
	return out
}

// containsSequence says whether a protected sequence begins in path.
func (g *generator) containsSequence(path string) bool {
	return slices.ContainsFunc(components(path), func(name string) bool {
		return slices.ContainsFunc(g.Files.Sequences(), func(s pathrule.Sequence) bool { return strings.EqualFold(s.Parts[0], name) })
	})
}

// byName packs names into as few expressions as fit.
func (g *generator) byName(prefix string, names []string, suffix string) []sbpl.Node {
	spelt := make([]string, len(names))
	for i, name := range names {
		spelt[i] = widen(name)
	}
	var out []sbpl.Node
	for _, group := range pack(spelt, sbpl.MaxString-sbpl.Len(prefix+suffix)-len("()")) {
		out = append(out, one("regex", prefix+alternatives(group)+suffix))
	}
	return out
}

// named says that denyNames covers path anyhow.
func (g *generator) named(path string) bool {
	for _, l := range g.Files.Globs() {
		if l.Glob.Covers(path) {
			return true
		}
	}
	for _, root := range g.writable {
		if path == root || !inside(path, root) {
			continue
		}
		names := components(path)[len(components(root)):]
		for _, s := range g.Files.Sequences() {
			for i := range len(names) - len(s.Parts) + 1 {
				if slices.EqualFunc(names[i:i+len(s.Parts)], s.Parts, strings.EqualFold) {
					return true
				}
			}
		}
	}
	return false
}
