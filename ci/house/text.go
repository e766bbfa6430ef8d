package house

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"slices"
	"strings"
)

// maxLines is the longest that a file of code may be.
const maxLines = 400

// Length checks that no file of code has more than maxLines lines.
func Length(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if n := bytes.Count(f.Text, []byte("\n")); (f.IsGo() || isScript(f)) && n > maxLines {
			bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d: split it by subject", f.Path, n, maxLines))
		}
	}
	return bad
}

func isScript(f File) bool { return bytes.HasPrefix(f.Text, []byte("#!")) }

// leftovers are marks of unfinished work. They are spelt in two halves here, so that this file has none.
var leftovers = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}

// Leftovers checks that no file carries a mark of unfinished work as a word.
func Leftovers(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		for i, line := range strings.Split(string(f.Text), "\n") {
			words := strings.FieldsFunc(line, func(r rune) bool { return !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9') })
			for _, w := range words {
				if slices.Contains(leftovers, w) {
					bad = append(bad, fmt.Sprintf("%s:%d: %s", f.Path, i+1, w))
				}
			}
		}
	}
	return bad
}

// Format checks that every Go file is as gofmt writes it.
func Format(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !f.IsGo() {
			continue
		}
		if out, err := format.Source(f.Text); err != nil || !bytes.Equal(out, f.Text) {
			bad = append(bad, f.Path+": not as gofmt writes it")
		}
	}
	return bad
}

// UnsafeFiles checks that unsafe is imported only where the name of the file says so.
func UnsafeFiles(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !f.IsGo() || !slices.Contains(f.Imports(), "unsafe") {
			continue
		}
		name := strings.TrimSuffix(path.Base(f.Path), ".go")
		if !slices.Contains(strings.Split(name, "_"), "unsafe") && name != "zsyscall_windows" {
			bad = append(bad, f.Path+" imports unsafe: such files are called *_unsafe.go, so that a reviewer finds them")
		}
	}
	return bad
}

// Replaces checks that go.mod files replace nothing but our own modules by directories of this tree.
func Replaces(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if path.Base(f.Path) != "go.mod" {
			continue
		}
		for line := range strings.Lines(string(f.Text)) {
			line, _, _ = strings.Cut(line, "//")
			from, to, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "replace "), "=>")
			if !ok {
				continue
			}
			from, to = strings.TrimSpace(from), strings.TrimSpace(to)
			if !strings.HasPrefix(from, module) || !strings.HasPrefix(to, "../") || path.Join(path.Dir(f.Path), to) != strings.TrimPrefix(from, module) {
				bad = append(bad, fmt.Sprintf("%s replaces %s by %s: only our own modules are replaced, by their directories", f.Path, from, to))
			}
		}
	}
	return bad
}
