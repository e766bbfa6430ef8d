package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// maxPath is the longest path a system call takes, without its final NUL (PATH_MAX on Linux).
const maxPath = 4095

func checkFiles(r *resolver) error {
	fs, files := &r.f.Filesystem, &r.p.files
	lists := []struct {
		key     string
		entries []settings.PathEntry
		to      *[]wire.PathEntry
		deny    bool
	}{
		{"denyRead", fs.DenyRead, &files.DenyRead, true},
		{"allowRead", fs.AllowRead, &files.AllowRead, false},
		{"allowWrite", fs.AllowWrite, &files.AllowWrite, false},
		{"denyWrite", fs.DenyWrite, &files.DenyWrite, true},
	}
	for _, l := range lists { // the lists of a disabled section are checked too: it may be switched on again tomorrow
		if n := len(l.entries); n > 0 {
			*l.to = make([]wire.PathEntry, 0, n+ownEntries)
		}
		for i, e := range l.entries {
			if err := r.entry(l.to, e, l.deny, func() []any { return []any{"filesystem", l.key, i} }); err != nil {
				return err
			}
		}
		if fs.Disabled && len(l.entries) > 0 {
			r.note("filesystem.%s has no effect, because filesystem.disabled is on", l.key)
		}
	}
	if fs.Disabled {
		*files = wire.FilePolicy{Disabled: true}
		return nil
	}
	return r.protectOwn()
}

// ownEntries is room for what protectOwn adds.
const ownEntries = 16

// protectOwn denies what decides the next run, the settings and srt's own binaries, and what tells of this one.
func (r *resolver) protectOwn() error {
	c := &r.p.ctx
	own := []struct{ path, why string }{
		{c.SettingsPath, "srt: the settings file in force"},
		{r.paths.join(c.Home, settings.DefaultName), "srt: the settings file of the next run"},
		{c.Report, "srt: the report of this run"},
		{r.gitConfig(), "srt: git reads it as it does .gitconfig"},
	}
	for _, b := range c.SrtBinaries {
		own = append(own, struct{ path, why string }{b, "srt: one of its own binaries"})
	}
	for i, o := range own {
		switch {
		case o.path == "" || i == 1 && own[0].path == o.path:
			continue
		case !r.paths.isAbs(r.paths.slash(o.path)):
			return fmt.Errorf("resolve the policy: %s: %q is not an absolute path", strings.TrimPrefix(o.why, "srt: "), o.path)
		}
		r.denyOwn(r.paths.clean(o.path), o.why)
	}
	return nil
}

// denyOwn denies what srt itself uses outside, where a link in its place would lead srt astray.
func (r *resolver) denyOwn(path, why string) {
	if !r.p.files.Disabled {
		r.p.files.DenyWrite = append(r.p.files.DenyWrite, wire.PathEntry{Path: path, Rule: why})
	}
}

// gitConfig is the other place of the user's own git configuration; "" when the settings lift .gitconfig.
func (r *resolver) gitConfig() string {
	if slices.Contains(r.f.Filesystem.AllowProtected, ".gitconfig") {
		return ""
	}
	return r.paths.join(r.p.ctx.Home, ".config/git/config")
}

// entry resolves one entry of a list and appends it to the list. An entry with pattern characters is a pattern; the helper takes it for
// a literal path as well when that exists. place is asked for only when something is wrong: there may be thousands of entries.
func (r *resolver) entry(to *[]wire.PathEntry, e settings.PathEntry, deny bool, place func() []any) error {
	problem, hint := r.spelling(e, deny)
	if problem == "" && !e.Literal {
		problem, hint = r.unread(r.paths.slash(e.Path))
	}
	if problem != "" {
		return r.f.Errorf(quote(e.Path)+" "+problem, hint, place()...)
	}
	base, rest := r.split(r.paths.slash(e.Path))
	if !e.Literal {
		rest = trimTail(rest)
	}
	if e.Literal || !hasMeta(rest) {
		path := r.paths.join(base, rest)
		if len(path) > maxPath {
			return r.tooLong(e, place())
		}
		*to = append(*to, wire.PathEntry{Path: path, Rule: e.Path})
		return nil
	}
	pattern, literal, ok := r.paths.pattern(base, rest)
	if !ok {
		return r.f.Errorf(quote(e.Path)+` has ".." behind a pattern`, `write the pattern without ".."`, place()...)
	}
	if _, err := pathrule.ParseGlob(pattern); err != nil {
		if !r.exists(literal) {
			return r.f.Errorf(quote(e.Path)+": "+err.Error(), `or write {"path": …, "literal": true} for a path of exactly this name`, place()...)
		}
		*to = append(*to, wire.PathEntry{Path: literal, Rule: e.Path})
		return nil
	}
	if len(pattern) > maxPath {
		return r.tooLong(e, place())
	}
	*to = append(*to, wire.PathEntry{Path: pattern, Glob: true, Rule: e.Path})
	if literal != pattern && r.exists(literal) { // else the helper finds the literal path under the pattern itself
		*to = append(*to, wire.PathEntry{Path: literal, Rule: e.Path})
	}
	return nil
}

// path resolves an entry that is one path and never a pattern.
func (r *resolver) path(e settings.PathEntry, place ...any) (string, error) {
	var one []wire.PathEntry
	if err := r.entry(&one, e, false, func() []any { return place }); err != nil {
		return "", err
	}
	return one[0].Path, nil
}

func (r *resolver) tooLong(e settings.PathEntry, place []any) error {
	return r.f.Errorf(fmt.Sprintf("%s is longer than a path can be (%d bytes)", quote(e.Path), maxPath), "name a directory above it", place...)
}

// split gives the directory where an entry starts ("" for an absolute one) and the entry behind it.
func (r *resolver) split(path string) (base, rest string) {
	switch {
	case path == "~":
		return r.p.ctx.Home, ""
	case strings.HasPrefix(path, "~/"):
		return r.p.ctx.Home, path[2:]
	case r.paths.isAbs(path):
		return "", path
	}
	return r.p.ctx.Dir, path
}

// spelling refuses entries that cannot mean what their writer wanted. A deny entry that silently names nothing protects nothing.
func (r *resolver) spelling(e settings.PathEntry, deny bool) (problem, hint string) {
	p := r.paths.slash(e.Path)
	switch {
	case p == "":
		return "is empty", `write "." for the working directory`
	case strings.ContainsRune(p, 0):
		return "holds a NUL character, which no path can", "remove it"
	case len(p) > maxPath:
		return fmt.Sprintf("is longer than a path can be (%d bytes)", maxPath), "name a directory above it"
	case r.paths.windows && (p[0] == '/' || len(p) > 1 && p[1] == ':' && !r.paths.isAbs(p)):
		return "is a network path, or depends on the current drive or its directory", `write a path with its drive, such as "C:/data"`
	case e.Literal:
		return "", ""
	case p[0] == '~' && len(p) > 1 && p[1] != '/':
		return "names another user's home, which is not looked up", "write the whole path, or " + quote("./"+p) + " for a file of that name"
	case startsWithVariable(p):
		return "starts with a variable, and variables are not expanded", `write "~/…" or the whole path, or {"path": …, "literal": true} for a file of that name`
	case strings.HasPrefix(p, "file://"):
		return "is a URL", "write the path behind file://"
	case deny && strings.HasSuffix(p, "/") && hasMeta(p):
		return "is a pattern that ends in a slash", "write " + quote(trimTail(p))
	}
	return "", ""
}

func (r *resolver) exists(path string) bool { return r.p.ctx.Exists != nil && r.p.ctx.Exists(path) }

// unread refuses what other tools give a meaning that it does not have here, unless a file is called so: it would name nothing.
func (r *resolver) unread(p string) (problem, hint string) {
	switch {
	case strings.TrimSpace(p) != p:
		problem, hint = "begins or ends with white space", "remove it"
	case p[0] == '!':
		problem, hint = `begins with "!", and no entry takes another one back`, "leave it out, or name the path in the list that denies it or opens it again"
	case between(p, "{", ",", "}") || between(p, "(", "|", ")"):
		problem, hint = "has alternatives in it, which are not read", "write an entry for each of them"
	case hasVariable(p):
		problem, hint = "has a variable in it, and variables are not expanded", "write the whole path"
	default:
		return "", ""
	}
	base, rest := r.split(p)
	if r.exists(r.paths.join(base, trimTail(rest))) {
		return "", ""
	}
	return problem, hint + `, or write {"path": …, "literal": true} for a file of exactly this name`
}

// between says whether sep stands between an open and the next end.
func between(p, open, sep, end string) bool {
	for {
		_, rest, found := strings.Cut(p, open)
		inner, _, closed := strings.Cut(rest, end)
		if !found || !closed {
			return false
		}
		if strings.Contains(inner, sep) {
			return true
		}
		p = rest
	}
}

// hasVariable says whether a component is "$NAME" or "${NAME}".
func hasVariable(p string) bool {
	for c := range strings.SplitSeq(p, "/") {
		name, found := strings.CutPrefix(c, "$")
		if strings.HasPrefix(name, "{") && strings.HasSuffix(name, "}") {
			name = name[1 : len(name)-1]
		}
		if found && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789") == "" && (name[0] < '0' || name[0] > '9') {
			return true
		}
	}
	return false
}

func startsWithVariable(p string) bool {
	if p[0] == '%' { // %USERPROFILE%\x
		i := strings.IndexByte(p[1:], '%')
		return i > 0 && strings.Trim(p[1:1+i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	}
	if len(p) < 2 || p[0] != '$' {
		return false
	}
	c := p[1]
	return c == '{' || c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func hasMeta(p string) bool { return strings.ContainsAny(p, "*?[") }
