package house

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// PackageComments checks that every package has exactly one package comment and that it begins as godoc wants it.
func PackageComments(t *Tree) []string {
	var bad []string
	for dir, files := range t.packages() {
		var with []File
		for _, f := range files {
			if f.Syntax.Doc != nil {
				with = append(with, f)
			}
		}
		switch len(with) {
		case 0:
			bad = append(bad, dir+": no package comment: say what the package does and what it must never do")
			continue
		case 1:
		default:
			var names []string
			for _, f := range with {
				names = append(names, f.Path)
			}
			slices.Sort(names)
			bad = append(bad, fmt.Sprintf("%s: package comments in %s", dir, strings.Join(names, " and ")))
			continue
		}
		want := "Package " + with[0].Syntax.Name.Name + " "
		if with[0].Syntax.Name.Name == "main" {
			want = "Command "
		}
		if text := with[0].Syntax.Doc.Text(); !strings.HasPrefix(text, want) {
			bad = append(bad, fmt.Sprintf("%s: the package comment does not begin with %q", with[0].Path, want))
		}
	}
	return bad
}

// ExportedComments checks that what a package exports has a comment. Methods may go without, and so may fields.
func ExportedComments(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !f.IsGo() || f.IsTest() || f.Syntax.Name.Name == "main" {
			continue
		}
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() && d.Doc == nil {
					bad = append(bad, fmt.Sprintf("%s: %s has no comment", t.line(d.Pos()), d.Name.Name))
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && s.Doc == nil && d.Doc == nil && s.Comment == nil {
						bad = append(bad, fmt.Sprintf("%s: %s has no comment", t.line(s.Pos()), s.Name.Name))
					}
				}
			}
		}
	}
	return bad
}
