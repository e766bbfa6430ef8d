package profile

import (
	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// allowWrites gives filters for the trees and files of allowWrite.
func (g *generator) allowWrites() []sbpl.Node {
	var out []sbpl.Node
	for _, m := range g.marks {
		if m.AllowWrite != "" {
			out = append(out, one("subpath", g.exactly(m.Path)))
		}
	}
	return out
}

// denyWrites gives filters for what denyWrite and what the protection of existing names covers. The run's own temporary directory is
// opened again behind them.
func (g *generator) denyWrites() []sbpl.Node {
	var places []place
	for _, m := range g.marks {
		if m.DenyWrite != "" && !g.named(m.Path) {
			places = append(places, g.anySpelling(m.Path))
		}
	}
	return g.filters(places, tree)
}

// pinned gives filters for what exists and must neither be removed nor renamed: whatever is protected cannot be carried away by a
// directory above it, and where a writable tree begins belongs to the directory above.
func (g *generator) pinned() []sbpl.Node {
	seen := map[string]bool{}
	var places []place
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			real := g.exactly(path)
			places = append(places, place{real, len(real)})
		}
	}
	for _, m := range g.marks {
		if g.beginsTree(m) || m.Pin != "" {
			add(m.Path)
		}
		if m.Kind != pathrule.Missing && (m.DenyRead != "" && m.AllowRead == "" || m.DenyWrite != "" || m.Pin != "") {
			for up := parent(m.Path); up != "/" && g.Files.Writable(up) && !seen[up]; up = parent(up) {
				add(up)
			}
		}
	}
	if g.TmpDir != "" {
		add(g.TmpDir)
	}
	return g.filters(places, only)
}

// beginsTree says that the command may write to m and not to the directory that holds it.
func (g *generator) beginsTree(m *pathrule.Mark) bool {
	return (m.AllowWrite != "" || m.AllowRead != "") && g.Files.Writable(m.Path) && !g.Files.Writable(parent(m.Path))
}

// uncreatable gives filters for names that could be made harmlessly, and then used to bring a protected name into being: by renaming a
// prepared directory, or a link, to them.
func (g *generator) uncreatable() []sbpl.Node {
	var places, links []place
	for _, m := range g.marks {
		first := m.AllowWrite != "" && m.Kind == pathrule.Missing && !g.Files.Hidden(parent(m.Path)) // may be made once, not as a link
		switch {
		case !g.beginsTree(m):
		case first:
			links = append(links, g.anySpelling(m.Path))
		default:
			places = append(places, g.anySpelling(m.Path))
		}
		if m.DenyWrite != "" && m.Kind == pathrule.Missing {
			for up := parent(m.Path); g.Files.Writable(up); up = parent(up) {
				places = append(places, g.anySpelling(up))
				if up == "/" {
					break
				}
			}
		}
	}
	if g.TmpDir != "" {
		places = append(places, g.anySpelling(g.TmpDir))
	}
	for _, l := range g.Files.Globs() {
		for up := l.Glob.LiteralBase(); up != "/" && g.Files.Writable(up); up = parent(up) {
			places = append(places, g.anySpelling(up))
		}
	}
	out := append(g.filters(places, only), g.heads()...)
	for _, f := range g.filters(links, only) {
		out = append(out, allOf(f, vnode("SYMLINK")))
	}
	if len(g.writable) > 0 {
		out = append(out, one("regex", oddRegex()))
	}
	return out
}
