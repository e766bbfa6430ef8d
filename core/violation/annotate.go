package violation

import "strings"

// Annotate appends the violations of one attribution key to what its command wrote on stderr:
//
//	<sandbox_violations>
//	deny network-outbound example.com:443 (not on the allow list)
//	</sandbox_violations>
//
// Equal lines stand there once. Without violations stderr comes back as it is.
func (s *Store) Annotate(key, stderr string) string {
	groups := Group(s.ForKey(key))
	if len(groups) == 0 {
		return stderr
	}
	var b strings.Builder
	b.WriteString(stderr)
	b.WriteString("\n<sandbox_violations>\n")
	for _, g := range groups {
		b.WriteString(g.Line + "\n")
	}
	b.WriteString("</sandbox_violations>")
	return b.String()
}

// Repeated is a violation and how often it happened.
type Repeated struct {
	Record     // the first of them
	Times  int // ≥ 1
}

// Group joins violations with the same line, in the order of their first appearance.
func Group(records []Record) []Repeated {
	var out []Repeated
	at := map[string]int{}
	for _, r := range records {
		i, ok := at[r.Line]
		if !ok {
			i = len(out)
			at[r.Line] = i
			out = append(out, Repeated{Record: r})
		}
		out[i].Times += r.Violation.Count
	}
	return out
}
