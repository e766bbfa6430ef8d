package hostmatch

import "fmt"

// SyntaxError says where a host or an entry of a domain list is wrong and how it may be spelt.
type SyntaxError struct {
	Text   string // as given
	Pos    int    // offset of the mistake in Text, in bytes
	Detail string // what is wrong
	Hint   string // the entry that was probably meant, or ""
}

// Error implements error: the text, the cause, where, and the suggestion.
func (e *SyntaxError) Error() string {
	msg := fmt.Sprintf("%q: %s (at character %d)", e.Text, e.Detail, e.Pos+1)
	if e.Hint != "" {
		msg += fmt.Sprintf("; write %q", e.Hint)
	}
	return msg
}
