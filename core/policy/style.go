package policy

import (
	"path"
	"strings"
)

// pathStyle is how the paths of a system are written. What it gives is separated by "/" on every system: "/a/b", "C:/a/b".
type pathStyle struct{ windows bool }

var posix = pathStyle{}

func stylePaths(c Context) pathStyle { return pathStyle{windows: c.GOOS == "windows"} }

// slash gives p with "/" alone between components.
func (s pathStyle) slash(p string) string {
	if s.windows {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// isAbs reads a slashed path. On Windows it needs a drive: "/x" depends on the current one, and a share cannot be protected.
func (s pathStyle) isAbs(p string) bool {
	if !s.windows {
		return strings.HasPrefix(p, "/")
	}
	return len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// volume gives "C:" of an absolute Windows path.
func (s pathStyle) volume(p string) string {
	if s.windows && s.isAbs(p) {
		return p[:2]
	}
	return ""
}

// join puts rest behind base and makes the result lexically clean; base "" means that rest is absolute.
func (s pathStyle) join(base, rest string) string {
	whole := s.slash(rest)
	if base != "" {
		whole = s.slash(base) + "/" + whole
	}
	v := s.volume(whole)
	rooted := whole[len(v):]
	if !strings.HasPrefix(rooted, "/") {
		rooted = "/" + rooted
	}
	return v + path.Clean(rooted)
}

// clean makes an absolute path lexically clean.
func (s pathStyle) clean(p string) string { return s.join("", p) }

// trimTail takes away what only says "the directory and all below": trailing slashes and "/**".
func trimTail(p string) string {
	for {
		switch {
		case len(p) > 1 && strings.HasSuffix(p, "/") && !(len(p) == 3 && p[1] == ':'): // "C:/" is a root
			p = p[:len(p)-1]
		case strings.HasSuffix(p, "/**"):
			p = p[:len(p)-2]
		case p == "**":
			return "."
		default:
			return p
		}
	}
}

// pattern puts a pattern behind base (literal, "" when rest is absolute) and cleans both; false when ".." would go back over a
// pattern. What of base would read as a pattern is escaped as git does; literal is the same path without these escapes.
func (s pathStyle) pattern(base, rest string) (pattern, literal string, ok bool) {
	rest = s.slash(rest)
	volume := s.volume(rest)
	rest = rest[len(volume):]
	var segs []string
	if base != "" {
		base = s.clean(base)
		volume = s.volume(base)
		if inner := base[len(volume)+1:]; inner != "" {
			segs = strings.Split(inner, "/")
		}
	}
	fixed := len(segs) // so many components are literal, whatever they look like
	for seg := range strings.SplitSeq(rest, "/") {
		switch {
		case seg == "" || seg == ".":
		case seg != "..":
			segs = append(segs, seg)
		case len(segs) > fixed && hasMeta(segs[len(segs)-1]):
			return "", "", false
		default:
			segs = segs[:max(0, len(segs)-1)]
			fixed = min(fixed, len(segs))
		}
	}
	plain := strings.Join(segs, "/")
	for i := range fixed {
		segs[i] = escapeMeta.Replace(segs[i])
	}
	return volume + "/" + strings.Join(segs, "/"), volume + "/" + plain, true
}

var escapeMeta = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
