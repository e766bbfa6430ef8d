package settings

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Error says what is wrong with the settings: in which file, where, at which key, and what would be right.
type Error struct {
	File    string // "" when the settings did not come from a file
	Line    int    // from 1; 0 when there is no position
	Col     int    // from 1, in characters
	Key     string // "network.allowedDomains[2]", or "" when the whole file is meant
	Problem string
	Hint    string // the right form
}

// Error gives one line: FILE:LINE:COL: KEY: PROBLEM; HINT.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Where())
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(e.Key)
		b.WriteString(": ")
	}
	b.WriteString(e.Problem)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Where is FILE:LINE:COL, as much of it as is known.
func (e *Error) Where() string {
	name := visible(e.File)
	switch {
	case name == "":
		return ""
	case e.Line == 0:
		return name
	}
	return name + ":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Col)
}

// Errorf makes the error for the value at a place in the file that was read well and means nothing, or not what it should.
// The place is keys (string) and indexes (int) from the top: "network", "allowedDomains", 2.
func (f *File) Errorf(problem, hint string, place ...any) *Error {
	e := &Error{File: f.source, Key: keyText(place), Problem: visible(problem), Hint: visible(hint)}
	if f.text == nil {
		return e
	}
	if v, err := hujson.Parse(f.text); err == nil { // only now: finding positions must not cost a good file anything
		e.Line, e.Col = position(f.text, find(v, place))
	}
	return e
}

// find gives the offset of the innermost part of place that exists.
func find(v hujson.Value, place []any) int {
	at := v.StartOffset
	for _, p := range place {
		next := false
		switch c := v.Value.(type) {
		case *hujson.Object:
			for _, m := range c.Members {
				if name, _ := unquote(m.Name.Value.(hujson.Literal)); name == p {
					at, v, next = m.Name.StartOffset, m.Value, true
					break
				}
			}
		case *hujson.Array:
			if i, ok := p.(int); ok && i < len(c.Elements) {
				v, next = c.Elements[i], true
				at = v.StartOffset
			}
		}
		if !next {
			break
		}
	}
	return at
}

func position(text []byte, offset int) (line, col int) {
	before := text[:min(offset, len(text))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

func keyText(place []any) string {
	var b strings.Builder
	for i, p := range place {
		switch p := p.(type) {
		case int:
			b.WriteString("[" + strconv.Itoa(p) + "]")
		case string:
			switch {
			case !isWord(p):
				b.WriteString("[" + quote(p) + "]")
			case i > 0:
				b.WriteString("." + p)
			default:
				b.WriteString(p)
			}
		}
	}
	return b.String()
}

func isWord(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '$' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= maxQuoted
}

const maxQuoted = 80

// quote shows a text from the file within bounds and on one line.
func quote(s string) string {
	short := shorten(s)
	if len(short) < len(s) {
		return strconv.Quote(short) + "…"
	}
	return strconv.Quote(s)
}

// clip is quote without the quotes.
func clip(s string) string {
	q := strconv.Quote(shorten(s))
	q = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
	if len(s) > maxQuoted {
		return q + "…"
	}
	return q
}

func shorten(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// visible escapes what a terminal would not show as it is, line ends among it. The text may come from the file or name a path.
func visible(s string) string {
	clean := true
	for _, r := range s {
		clean = clean && r != utf8.RuneError && strconv.IsPrint(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if piece := s[i : i+size]; strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(piece)
		} else {
			q := strconv.Quote(piece)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}
