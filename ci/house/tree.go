package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// File is one file of the tree. Syntax is set for Go files.
type File struct {
	Path   string // relative to the root, with slashes
	Text   []byte
	Syntax *ast.File
}

// Dir is the directory of the file, relative to the root.
func (f File) Dir() string { return path.Dir(f.Path) }

// IsGo and IsTest say what kind of file it is.
func (f File) IsGo() bool   { return strings.HasSuffix(f.Path, ".go") }
func (f File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Imports are the paths that a Go file imports.
func (f File) Imports() []string {
	var out []string
	for _, i := range f.Syntax.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			p = i.Path.Value
		}
		out = append(out, p)
	}
	return out
}

// Tree is a source tree without what was built and without test data.
type Tree struct {
	Files []File
	fset  *token.FileSet
}

// skipped directories hold no source of ours.
var skipped = map[string]bool{".git": true, "bin": true, "libexec": true, "dist": true, "testdata": true, "node_modules": true}

// Load reads the tree below root. Binary files are left out.
func Load(root string) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if skipped[d.Name()] && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		f := File{Path: rel, Text: text}
		if f.IsGo() {
			if f.Syntax, err = parser.ParseFile(t.fset, rel, text, parser.ParseComments); err != nil {
				return fmt.Errorf("parse: %w", err)
			}
		}
		t.Files = append(t.Files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	return t, nil
}

// packages groups the Go files by directory; tests are left out.
func (t *Tree) packages() map[string][]File {
	out := map[string][]File{}
	for _, f := range t.Files {
		if f.IsGo() && !f.IsTest() {
			out[f.Dir()] = append(out[f.Dir()], f)
		}
	}
	return out
}

// line gives "path:line" of a position.
func (t *Tree) line(p token.Pos) string {
	at := t.fset.Position(p)
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

// under says whether a directory is dir or lies below it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
