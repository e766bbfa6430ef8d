package violation

import "strings"

// Annotate appends the violations of one attribution key to what its command wrote on stderr:
//
//	<sandbox_violations>
//	deny network-outbound example.com:443 (not on the allow list)
//	</sandbox_violations>
//
// Equal lines stand there once. Without violations nothing is appended. In what the command wrote the name of the block gets a hyphen, so
// that a command cannot close the block, nor write one of its own; everything else of stderr comes back as it is.
func (s *Store) Annotate(key, stderr string) string {
	stderr = disarm(stderr)
	groups := Group(s.ForKey(key))
	if len(groups) == 0 {
		return stderr
	}
	var b strings.Builder
	b.WriteString(stderr)
	b.WriteString("\n<" + block + ">\n")
	for _, g := range groups {
		b.WriteString(g.Line + "\n")
	}
	b.WriteString("</" + block + ">")
	return b.String()
}

const block = "sandbox_violations"

// disarm takes the name of the block out of text, in whatever case.
func disarm(text string) string {
	var b strings.Builder
	from := 0
	for at := 0; at+len(block) <= len(text); at++ {
		if text[at]|0x20 == block[0] && strings.EqualFold(text[at:at+len(block)], block) {
			underscore := at + strings.IndexByte(block, '_')
			b.WriteString(text[from:underscore] + "-")
			from = underscore + 1
		}
	}
	return b.String() + text[from:]
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
