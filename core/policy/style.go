package policy

import (
	"path"
	"strings"
)

// pathStyle is how the paths of a system are written.
type pathStyle struct{ windows bool }

var posix = pathStyle{}

func stylePaths(c Context) pathStyle { return pathStyle{windows: c.GOOS == "windows"} }

func (s pathStyle) isSep(c byte) bool { return c == '/' || s.windows && c == '\\' }

// isAbs: on Windows a path needs its drive or its share; `\x` depends on the current drive.
func (s pathStyle) isAbs(p string) bool {
	if !s.windows {
		return strings.HasPrefix(p, "/")
	}
	return s.volume(p) != ""
}

// volume gives `C:` or `\\server\share` of an absolute Windows path, in that spelling, else "".
func (s pathStyle) volume(p string) string {
	if len(p) >= 3 && p[1] == ':' && s.isSep(p[2]) && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') {
		return p[:2]
	}
	if len(p) > 2 && s.isSep(p[0]) && s.isSep(p[1]) {
		parts := strings.SplitN(strings.ReplaceAll(p[2:], "/", `\`), `\`, 3)
		if len(parts) >= 2 && parts[0] != "" && parts[1] != "" {
			return `\\` + parts[0] + `\` + parts[1]
		}
	}
	return ""
}

// clean makes an absolute path lexically clean.
func (s pathStyle) clean(p string) string {
	if !s.windows {
		return path.Clean(p)
	}
	v := s.volume(p)
	rest := path.Clean("/" + strings.ReplaceAll(p[len(v):], `\`, "/"))
	return v + s.native(rest)
}

func (s pathStyle) native(p string) string {
	if s.windows {
		return strings.ReplaceAll(p, "/", `\`)
	}
	return p
}

// join puts rest behind base and cleans; base "" means that rest is absolute.
func (s pathStyle) join(base, rest string) string {
	if base == "" {
		return s.clean(rest)
	}
	return s.clean(base + "/" + rest)
}

// trimTail takes away what only says "the directory and all below": trailing slashes and "/**".
func (s pathStyle) trimTail(p string) string {
	for {
		switch {
		case len(p) > 1 && s.isSep(p[len(p)-1]):
			p = p[:len(p)-1]
		case len(p) > 2 && s.isSep(p[len(p)-3]) && strings.HasSuffix(p, "**"):
			p = p[:len(p)-2]
		case p == "**":
			return "."
		default:
			return p
		}
	}
}

// pattern puts a pattern behind base (literal, "" when rest is absolute) and cleans both. What of base would read as a pattern is
// escaped as git does, with a backslash; then literal is the same entry without pattern and escapes.
func (s pathStyle) pattern(base, rest string) (pattern, literal, problem, hint string) {
	volume := ""
	if s.windows {
		rest = strings.ReplaceAll(rest, `\`, "/")
		if base == "" {
			volume = s.volume(rest)
			rest = rest[len(volume):]
		} else {
			base = s.clean(base)
			volume = s.volume(base)
			base = strings.ReplaceAll(base[len(volume):], `\`, "/")
		}
	}
	dir := strings.Split(path.Clean("/"+base), "/")[1:]
	if dir[0] == "" {
		dir = nil
	}
	fixed := len(dir) // components that are literal whatever they look like
	segs := dir
	for seg := range strings.SplitSeq(rest, "/") {
		last := ""
		if len(segs) > 0 {
			last = segs[len(segs)-1]
		}
		switch {
		case seg == "" || seg == ".":
		case seg == ".." && len(segs) > fixed && hasMeta(last):
			return "", "", "has \"..\" behind a pattern", "write the path without \"..\""
		case seg == "..":
			segs = segs[:max(0, len(segs)-1)]
			fixed = min(fixed, len(segs))
		case seg == "**" && last == "**" && len(segs) > fixed:
		default:
			if problem, hint := badPattern(seg, s.windows); problem != "" {
				return "", "", problem, hint
			}
			segs = append(segs[:len(segs):len(segs)], seg)
		}
	}
	escaped := make([]string, len(segs))
	copy(escaped, segs)
	for i := range fixed {
		if escaped[i] = s.escapeMeta(segs[i]); escaped[i] != segs[i] {
			literal = volume + s.native("/"+strings.Join(segs, "/"))
		}
	}
	return volume + s.native("/"+strings.Join(escaped, "/")), literal, "", ""
}

// badPattern refuses a component that can match nothing.
func badPattern(seg string, windows bool) (problem, hint string) {
	const literal = `write {"path": …, "literal": true} for a path with these characters in its name`
	for i := 0; i < len(seg); i++ {
		switch {
		case seg[i] == '\\' && !windows:
			if i++; i == len(seg) {
				return "ends a pattern with a backslash", literal
			}
		case seg[i] == '[':
			end := bracketEnd(seg[i:])
			if end < 0 {
				return "has a [ that is never closed", literal
			}
			i += end
		}
	}
	return "", ""
}

// bracketEnd gives the offset of the ] that closes the [ at 0, or -1. A ] directly behind [, [! or [^ is a member.
func bracketEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); i++ {
		switch {
		case s[i] == ']' && !first:
			return i
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "[:"):
			if j := strings.Index(s[i+2:], ":]"); j >= 0 {
				i += 2 + j + 1
			}
		}
		first = false
	}
	return -1
}

// escapeMeta makes a component that matches exactly its own name. Windows names have no * and ?, and its patterns no escapes.
func (s pathStyle) escapeMeta(seg string) string {
	if s.windows {
		return strings.ReplaceAll(seg, "[", "[[]")
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(seg)
}
