package sbpl

import "fmt"

// maxDepth bounds nested lists.
const maxDepth = 64

// Parse reads a profile. It is stricter than sandbox-exec: what two readers might understand differently is an error.
func Parse(src string) ([]Node, error) {
	r := &reader{src: src, line: 1}
	var out []Node
	for {
		r.skip()
		if r.pos == len(r.src) {
			return out, nil
		}
		n, err := r.read(0)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.line, err)
		}
		out = append(out, n)
	}
}

type reader struct {
	src  string
	pos  int
	line int
}

// skip passes white space and comments.
func (r *reader) skip() {
	for ; r.pos < len(r.src); r.pos++ {
		switch r.src[r.pos] {
		case '\n':
			r.line++
		case ' ', '\t':
		case ';':
			for r.pos+1 < len(r.src) && r.src[r.pos+1] != '\n' {
				r.pos++
			}
		default:
			return
		}
	}
}

func (r *reader) read(depth int) (Node, error) {
	if depth > maxDepth {
		return Node{}, fmt.Errorf("lists are nested deeper than %d", maxDepth)
	}
	line := r.line
	switch c := r.src[r.pos]; {
	case c == '(':
		return r.list(depth)
	case c == ')':
		return Node{}, fmt.Errorf(`")" without "("`)
	case c == '"':
		s, err := r.str()
		return Node{Kind: String, Text: s, Line: line}, err
	default:
		start := r.pos
		if c == '\'' {
			r.pos++
		}
		for r.pos < len(r.src) && symbolByte(r.src[r.pos]) {
			r.pos++
		}
		s := r.src[start:r.pos]
		if !isSymbol(s) {
			return Node{}, fmt.Errorf("unexpected %q", c)
		}
		return Node{Kind: Symbol, Text: s, Line: line}, r.boundary()
	}
}

// boundary refuses a symbol or string that runs into what follows.
func (r *reader) boundary() error {
	if r.pos < len(r.src) {
		switch c := r.src[r.pos]; c {
		case ' ', '\t', '\n', '(', ')', ';':
		default:
			return fmt.Errorf("unexpected %q behind a word", c)
		}
	}
	return nil
}

func (r *reader) list(depth int) (Node, error) {
	n := Node{Line: r.line}
	r.pos++
	for {
		r.skip()
		if r.pos == len(r.src) {
			return n, fmt.Errorf("the list of line %d is not closed", n.Line)
		}
		if r.src[r.pos] == ')' {
			r.pos++
			return n, nil
		}
		item, err := r.read(depth + 1)
		if err != nil {
			return n, err
		}
		n.List = append(n.List, item)
	}
}

func (r *reader) str() (string, error) {
	var b []byte
	for r.pos++; r.pos < len(r.src); r.pos++ {
		switch c := r.src[r.pos]; c {
		case '"':
			r.pos++
			s := string(b)
			if err := CheckString(s); err != nil {
				return "", err
			}
			return s, r.boundary()
		case '\\':
			r.pos++
			if r.pos == len(r.src) || r.src[r.pos] != '"' && r.src[r.pos] != '\\' {
				return "", fmt.Errorf(`"\" is used for other than \" and \\`)
			}
			b = append(b, r.src[r.pos])
		default:
			b = append(b, c)
		}
	}
	return "", fmt.Errorf("a string is not closed")
}
