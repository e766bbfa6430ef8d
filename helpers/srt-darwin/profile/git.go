package profile

import (
	"path"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// gitDirs gives filters for what lies in git directories beside what git itself writes there while people work. Those called ".git"
// share one rule for all, the others (bare repositories, worktrees, submodules, one inside another) have one for each directory that
// holds some.
func (g *generator) gitDirs() []sbpl.Node {
	dirs := g.Files.GitDirs()
	if len(dirs) == 0 {
		return nil
	}
	work := gitWork(dirs[0])
	inner := g.treesInGitDirs()
	others := map[string][]string{}
	var out []sbpl.Node
	for _, d := range dirs {
		at := g.exactly(d.Path)
		if path.Base(at) != ".git" || slices.ContainsFunc(inner, func(root string) bool { return inside(at, root) }) {
			others[parent(at)] = append(others[parent(at)], exact(path.Base(at)))
		}
	}
	rest := allOf(one("regex", `^/(.*/)?\.git/`), not(one("regex", `^/(.*/)?\.git/(`+work+`)(/.*)?$`)))
	if len(inner) > 0 {
		rest.List = append(rest.List, not(anyOf(each("subpath", inner, func(root string) string { return root }))))
	}
	out = append(out, rest)
	var parents []string
	for dir := range others {
		parents = append(parents, dir)
	}
	slices.Sort(parents)
	for _, dir := range parents {
		prefix := "^" + exact(strings.TrimSuffix(dir, "/")) + "/("
		for _, names := range pack(others[dir], sbpl.MaxString-sbpl.Len(prefix+")/("+work+")(/.*)?$")) {
			at := prefix + strings.Join(names, "|") + ")/"
			if sbpl.Len(at) > sbpl.MaxString-sbpl.Len("("+work+")(/.*)?$") {
				g.fail(dir, "is too long a path for the rules of a git directory", "move the repository nearer to the root")
			}
			out = append(out, allOf(one("regex", at), not(one("regex", at+"("+work+")(/.*)?$"))))
		}
	}
	return out
}

// treesInGitDirs are the writable trees that lie inside a ".git" which is itself not writable.
func (g *generator) treesInGitDirs() []string {
	var out []string
	for _, root := range g.writable {
		if slices.Contains(components(parent(root)), ".git") {
			out = append(out, root)
		}
	}
	return out
}

// pack splits texts into groups that, joined by "|", are no longer than room. One that is longer by itself is a group.
func pack(texts []string, room int) [][]string {
	var out [][]string
	used := 0
	for _, t := range texts {
		n := sbpl.Len(t) + 1
		if len(out) == 0 || used+n > room {
			out, used = append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], t)
		used += n
	}
	return out
}

// gitWork gives the names that git writes directly in a git directory, as alternatives: pathrule.GitMayChange in the language of
// patterns. All but names in capitals with an underscore are exact, because "Hooks" is "hooks" on most volumes.
func gitWork(d *pathrule.GitDir) string {
	var names []string
	for _, name := range append(pathrule.GitWork(), d.Open...) {
		names = append(names, exact(name))
	}
	names = append(names, "HEAD", "[A-Z][^/]*_[^/]*", `\.[^/]*`, `[^/]*\.lock`)
	for _, beginning := range pathrule.GitTemporary() {
		names = append(names, exact(beginning)+"[^/]*")
	}
	return strings.Join(names, "|")
}
