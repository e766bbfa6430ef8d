package profile

import (
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
)

// pattern is a pattern of the policy, taken apart. It means what pathrule.Glob says.
type pattern struct {
	base  string    // the directory that it begins in, literal
	parts []segment // what comes below base
}

// segment is one component of a pattern.
type segment struct {
	text string // as written
	any  bool   // "**"
}

func parsePattern(g *pathrule.Glob) pattern {
	p := pattern{base: g.LiteralBase()}
	parts := strings.Split(strings.TrimPrefix(g.String(), "/"), "/")
	if p.base != "/" {
		parts = parts[strings.Count(p.base, "/"):]
	}
	for _, text := range parts {
		s := segment{text: text, any: len(text) > 1 && strings.Trim(text, "*") == ""}
		if n := len(p.parts); s.any && n > 0 && p.parts[n-1].any {
			continue
		}
		p.parts = append(p.parts, s)
	}
	return p
}

// regex gives the expression for what the components match, below a directory that ends in "/".
func regex(parts []segment, spell func(string) string) string {
	var b strings.Builder
	for i, s := range parts {
		last := i == len(parts)-1
		switch {
		case s.any && last:
			b.WriteString(".+")
		case s.any:
			b.WriteString("(.*/)?")
		default:
			b.WriteString(segmentRegex(s.text, spell))
			if !last {
				b.WriteByte('/')
			}
		}
	}
	return b.String()
}

const (
	// otherRun is one character that is not printable ASCII, or several of them: an engine may count bytes or characters.
	otherRun = "[^ -~]+"
	// anyCharacter is one character of a name.
	anyCharacter = "([ -.0-~]|" + otherRun + ")"
)

// segmentRegex gives the expression for one component that is not "**".
func segmentRegex(text string, spell func(string) string) string {
	var b strings.Builder
	var literal []byte
	flush := func() {
		b.WriteString(spell(string(literal)))
		literal = literal[:0]
	}
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '*':
			flush()
			b.WriteString("[^/]*")
			for i < len(text) && text[i] == '*' {
				i++
			}
		case '?':
			flush()
			b.WriteString(anyCharacter)
			i++
		case '[':
			flush()
			set, n := parseSet(text[i:])
			b.WriteString(set.regex())
			i += n
		case '\\':
			i++
			c = text[min(i, len(text)-1)]
			fallthrough
		default:
			literal = append(literal, c)
			i++
		}
	}
	flush()
	return b.String()
}

// below gives what p can still match strictly below dir, a literal path: the rests of its components.
func (p pattern) below(dir string) [][]segment {
	all := append(literalSegments(p.base), p.parts...)
	state := closure(all, map[int]bool{0: true})
	for _, name := range components(dir) {
		next := map[int]bool{}
		for i := range state {
			switch {
			case i == len(all):
			case all[i].any:
				next[i] = true
				if i == len(all)-1 {
					next[i+1] = true
				}
			case all[i].matches(name):
				next[i+1] = true
			}
		}
		state = closure(all, next)
	}
	var rests [][]segment
	for i := range len(all) {
		if state[i] && !(i > 0 && state[i-1] && all[i-1].any) { // "**/x" covers "x"
			rests = append(rests, all[i:])
		}
	}
	return rests
}

func closure(all []segment, state map[int]bool) map[int]bool {
	for i := range len(all) - 1 {
		if state[i] && all[i].any {
			state[i+1] = true
		}
	}
	return state
}

func literalSegments(path string) []segment {
	var out []segment
	for _, name := range components(path) {
		out = append(out, segment{text: escape(name)})
	}
	return out
}

// matches asks pathrule, so that there is one opinion on what a component matches.
func (s segment) matches(name string) bool {
	g, err := pathrule.ParseGlobFold("/" + s.text)
	return err == nil && g.Match("/"+name)
}

// literal gives the name that the component stands for, when it stands for one only.
func (s segment) literal() (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\' && i+1 < len(s.text):
			i++
		case strings.IndexByte("*?[", c) >= 0:
			return "", false
		}
		b.WriteByte(s.text[i])
	}
	return b.String(), !s.any
}

func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`*?[]\`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func components(path string) []string {
	if path == "/" {
		return nil
	}
	return strings.Split(path[1:], "/")
}
