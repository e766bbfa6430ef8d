package pathrule

import "strings"

// GitValue is one value of a git configuration file. Key is lower case: "core.hookspath", "include.path", "includeif.path" (without
// the subsection, which is in Sub).
type GitValue struct {
	Key   string
	Sub   string
	Value string
}

// IsInclude says that the value names another configuration file.
func (v GitValue) IsInclude() bool { return v.Key == "include.path" || v.Key == "includeif.path" }

// ParseGitConfig reads a git configuration file as git does, but never fails: from a line that git would refuse nothing is taken.
func ParseGitConfig(content []byte) []GitValue {
	var out []GitValue
	section, sub := "", ""
	text := strings.TrimPrefix(string(content), "\ufeff")
	for text != "" {
		text = strings.TrimLeft(text, " \t\r\n\v\f")
		switch {
		case text == "":
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
		case text[0] == '[':
			section, sub, text = gitSection(text[1:])
		default:
			n := 0
			for n < len(text) && (isAlnum(text[n]) || text[n] == '-') {
				n++
			}
			if n == 0 {
				_, text, _ = strings.Cut(text, "\n")
				continue
			}
			key := section + "." + strings.ToLower(text[:n])
			text = strings.TrimLeft(text[n:], " \t")
			if !strings.HasPrefix(text, "=") { // a key alone means true
				_, text, _ = strings.Cut(text, "\n")
				out = append(out, GitValue{key, sub, "true"})
				continue
			}
			var value string
			value, text = gitValue(text[1:])
			out = append(out, GitValue{key, sub, value})
		}
	}
	return out
}

func isAlnum(b byte) bool { return 'a' <= b|32 && b|32 <= 'z' || '0' <= b && b <= '9' }

// gitSection reads what follows "[".
func gitSection(text string) (section, sub, rest string) {
	n := 0
	for n < len(text) && (isAlnum(text[n]) || text[n] == '-' || text[n] == '.') {
		n++
	}
	section = strings.ToLower(text[:n])
	text = strings.TrimLeft(text[n:], " \t")
	if strings.HasPrefix(text, `"`) {
		var b strings.Builder
		i := 1
		for i < len(text) && text[i] != '"' && text[i] != '\n' {
			if text[i] == '\\' && i+1 < len(text) {
				i++
			}
			b.WriteByte(text[i])
			i++
		}
		sub, text = b.String(), text[min(i+1, len(text)):]
	} else if before, after, ok := strings.Cut(section, "."); ok {
		section, sub = before, after
	}
	if i := strings.IndexAny(text, "]\n"); i >= 0 {
		return section, sub, text[i+1:]
	}
	return section, sub, ""
}

// gitValue reads what follows "=": to the end of the line, with quotes, escapes, comments and continued lines.
func gitValue(text string) (value, rest string) {
	var b strings.Builder
	quoted := false
	keep := 0 // length up to which trailing blanks stay
	i := 0
	text = strings.TrimLeft(text, " \t")
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return b.String()[:keep], text[i+1:]
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case c == '\\' && i+1 < len(text):
			i++
			switch e := text[i]; e {
			case '\n':
			case '\r': // a continued line of a file with CRLF
				if i+1 < len(text) && text[i+1] == '\n' {
					i++
				}
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			default:
				b.WriteByte(e)
			}
			keep = b.Len()
		case c == '"':
			quoted = !quoted
			keep = max(keep, b.Len())
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String()[:keep], rest
		default:
			b.WriteByte(c)
			if quoted || c != ' ' && c != '\t' {
				keep = b.Len()
			}
		}
	}
	return b.String()[:keep], ""
}
