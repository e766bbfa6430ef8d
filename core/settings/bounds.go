package settings

import (
	"bytes"
	"fmt"
)

// checkBounds counts nesting and entries before anything is built, so that no file can exhaust stack or memory.
// It follows strings and comments as the parser does; where the text is not valid the parser says so later.
func checkBounds(name string, text []byte) error {
	depth, entries := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += commentLen(text[i:]) - 1
		case '{', '[':
			if depth++; depth > MaxDepth {
				return boundError(name, text, i, fmt.Sprintf("more than %d levels of nesting", MaxDepth))
			}
			entries++
		case '}', ']':
			depth--
		case ',':
			entries++
		}
		if entries > MaxEntries {
			return boundError(name, text, i, fmt.Sprintf("more than %d entries", MaxEntries))
		}
	}
	return nil
}

// commentLen is the length of the comment that text starts with, at least 1.
func commentLen(text []byte) int {
	end := ""
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text, []byte("/*")):
		end = "*/"
	default:
		return 1
	}
	if i := bytes.Index(text[2:], []byte(end)); i >= 0 {
		return 2 + i + len(end)
	}
	return len(text)
}

func boundError(name string, text []byte, at int, problem string) error {
	e := &Error{File: name, Problem: problem, Hint: "shorten the file"}
	e.Line, e.Col = position(text, at)
	return e
}
