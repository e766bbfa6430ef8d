package profile

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
)

// The differences between macOS and pathrule, as docs/macos.md lists them. Each is as narrow as it can be said.

// stricter gives the reason why macOS may deny q although pathrule allows it, "" when there is none.
func (w *world) stricter(q question) string {
	if q.op == pathrule.OpLink {
		return "hard links are never made"
	}
	if slices.Contains(readOps, q.op) {
		return ""
	}
	paths := []string{w.lands(q.from, q)}
	if q.to != "" {
		paths = append(paths, w.lands(q.to, q))
	}
	makes := slices.Contains(makeOps, q.op) || q.op == pathrule.OpRename
	for _, p := range paths {
		switch {
		case w.lateHidden(p):
			return "a pattern of denyRead denies writing too"
		case w.protectedName(p, false):
			return "protected names hold at every depth"
		case w.files.GitRules && len(w.policy.GitDirs()) > 0 && notGitWork(p):
			return "git directories hold at every depth"
		}
	}
	if p := paths[len(paths)-1]; makes {
		switch {
		case w.protectedName(p, true):
			return "the first part of a protected sequence is not made"
		case w.aboveMissing(p):
			return "a directory above a denied path that does not exist is not made"
		case w.patternHead(p):
			return "a directory that a pattern of denyWrite names is not made"
		}
	}
	return ""
}

// looser gives the reason why macOS allows q although pathrule denies it: Seatbelt judges a rename by its two names alone.
func (w *world) looser(q question, want pathrule.Decision) string {
	if q.op != pathrule.OpRename {
		return ""
	}
	to := w.lands(q.to, q)
	first := slices.ContainsFunc(w.policy.Marks(), func(m *pathrule.Mark) bool {
		return m.AllowWrite != "" && m.Kind == pathrule.Missing && strings.EqualFold(m.Path, to)
	})
	switch {
	case want.Reason == "a match of the pattern would come into being":
		return "a directory that is moved brings along what a pattern would deny"
	case first && want.Rule == "" && strings.HasSuffix(want.Reason, " is not writable"):
		return "an allowWrite path that does not exist is made by renaming too"
	}
	return ""
}

// lands is where p really leads.
func (w *world) lands(p string, q question) string {
	if q.op == pathrule.OpWrite || q.op == pathrule.OpChmod || q.op == pathrule.OpTruncate || q.op == pathrule.OpCreate {
		real, _ := pathrule.Resolve(w.fs, p)
		return real
	}
	dir, _ := pathrule.Resolve(w.fs, parent(p))
	return strings.TrimSuffix(dir, "/") + p[strings.LastIndexByte(p, '/'):]
}

func (w *world) lateHidden(p string) bool {
	return slices.ContainsFunc(w.policy.LateReads(), func(l pathrule.LiveGlob) bool { return l.Glob.Covers(p) })
}

// protectedName says that a protected sequence ends at p or above it; head: that p is its beginning.
func (w *world) protectedName(p string, head bool) bool {
	names := components(strings.ToLower(p))
	for _, s := range w.policy.Sequences() {
		for i := range names {
			rest := names[i:]
			switch n := len(s.Parts); {
			case head && len(rest) < n && slices.Equal(rest, s.Parts[:len(rest)]):
				return true
			case !head && len(rest) >= n && slices.Equal(rest[:n], s.Parts):
				return true
			}
		}
	}
	return false
}

func notGitWork(p string) bool {
	names := components(p)
	for i, name := range names[:len(names)-1] {
		if strings.EqualFold(name, ".git") || i+2 == len(names) {
			if !pathrule.GitMayChange(names[i+1]) {
				return true
			}
		}
	}
	return false
}

func (w *world) aboveMissing(p string) bool {
	return slices.ContainsFunc(w.policy.Marks(), func(m *pathrule.Mark) bool {
		return m.DenyWrite != "" && m.Kind == pathrule.Missing && m.Path != p && inside(strings.ToLower(m.Path), strings.ToLower(p))
	})
}

func (w *world) patternHead(p string) bool {
	for _, l := range w.policy.Globs() {
		if inside(strings.ToLower(l.Glob.LiteralBase()), strings.ToLower(p)) {
			return true
		}
		parts := strings.Split(l.Glob.String()[1:], "/")
		for i := 1; i < len(parts); i++ {
			if strings.ContainsAny(parts[i-1], "*?[") {
				continue
			}
			if g, err := pathrule.ParseGlobFold("/" + strings.Join(parts[:i], "/")); err == nil && g.Match(p) {
				return true
			}
		}
	}
	return false
}
