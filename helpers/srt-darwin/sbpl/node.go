package sbpl

import "fmt"

// Kind is what a Node is.
type Kind uint8

// Kinds. The zero value is an empty list.
const (
	List Kind = iota
	Symbol
	String
)

// Node is one S-expression. Text is a symbol, or what a string means (not how it is written).
type Node struct {
	Kind Kind
	Text string
	List []Node
	Line int // where it began, when it was read
}

// Sym is a symbol or a number.
func Sym(s string) Node { return Node{Kind: Symbol, Text: s} }

// Str is a string. Whether it can be written is decided by Append.
func Str(s string) Node { return Node{Kind: String, Text: s} }

// L is the list (head items…).
func L(head string, items ...Node) Node {
	return Node{List: append([]Node{Sym(head)}, items...)}
}

// Is says whether n is a list that begins with the symbol head.
func (n Node) Is(head string) bool {
	return n.Kind == List && len(n.List) > 0 && n.List[0].Kind == Symbol && n.List[0].Text == head
}

// Append writes n behind b, on one line. The error names the string that cannot be written.
func Append(b []byte, n Node) ([]byte, error) {
	switch n.Kind {
	case Symbol:
		if !isSymbol(n.Text) {
			return b, fmt.Errorf("%q is not a symbol (a bug, please report)", n.Text)
		}
		return append(b, n.Text...), nil
	case String:
		if err := CheckString(n.Text); err != nil {
			return b, err
		}
		return appendString(b, n.Text), nil
	}
	b = append(b, '(')
	for i, item := range n.List {
		if i > 0 {
			b = append(b, ' ')
		}
		var err error
		if b, err = Append(b, item); err != nil {
			return b, err
		}
	}
	return append(b, ')'), nil
}

// isSymbol accepts what is a symbol to every reader. A leading "'" quotes it.
func isSymbol(s string) bool {
	if len(s) > 1 && s[0] == '\'' {
		s = s[1:]
	}
	for i := range len(s) {
		if !symbolByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func symbolByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	switch c {
	case '-', '_', '*', '?', '.', '+', '/', '=', '<', '>', '!':
		return true
	}
	return false
}
