package quote

import "strings"

// split is CommandLineToArgvW, written from its documentation, for the tests.
func split(line string) []string {
	var out []string
	i := 0
	if strings.HasPrefix(line, `"`) { // the program: everything to the next quote
		end := strings.IndexByte(line[1:], '"')
		if end < 0 {
			return []string{line[1:]}
		}
		out = append(out, line[1:1+end])
		i = end + 2
	} else {
		for i < len(line) && line[i] > ' ' {
			i++
		}
		out = append(out, line[:i])
	}
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i >= len(line) {
			return out
		}
		var w strings.Builder
		quoted := false
		for i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t') {
			slashes := 0
			for i < len(line) && line[i] == '\\' {
				slashes++
				i++
			}
			switch {
			case i < len(line) && line[i] == '"':
				w.WriteString(strings.Repeat(`\`, slashes/2))
				switch {
				case slashes%2 == 1:
					w.WriteByte('"')
				case quoted && i+1 < len(line) && line[i+1] == '"': // a doubled quote inside quotes is one quote
					w.WriteByte('"')
					i++
				default:
					quoted = !quoted
				}
				i++
			case slashes > 0:
				w.WriteString(strings.Repeat(`\`, slashes))
			default:
				w.WriteByte(line[i])
				i++
			}
		}
		out = append(out, w.String())
	}
}

// cmdOutside gives what cmd.exe would see outside quotes of the part behind /c, the outermost quotes taken off.
func cmdOutside(line string) string {
	_, inner, _ := strings.Cut(line, "/c ")
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, `"`), `"`)
	var out strings.Builder
	quoted := false
	for _, r := range inner {
		if r == '"' {
			quoted = !quoted
			continue
		}
		if !quoted {
			out.WriteRune(r)
		}
	}
	return out.String()
}
