package sandbox

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/api.txt")

// A change of testdata/api.txt is a change for every program that uses this package.
func TestAPIStaysAsItIs(t *testing.T) {
	fset := token.NewFileSet()
	//lint:ignore SA1019 the replacement loads and type-checks every dependency; the exported syntax is all that is needed
	pkgs, err := parser.ParseDir(fset, ".", func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg := pkgs["sandbox"]
	//lint:ignore SA1019 the same
	ast.PackageExports(pkg)
	var api []string
	show := func(node any) {
		var b strings.Builder
		if err := printer.Fprint(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		api = append(api, b.String())
	}
	for _, f := range pkg.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
				if d.Recv == nil || ast.IsExported(typeName(d.Recv.List[0].Type)) {
					show(d)
				}
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, s := range d.Specs {
					show(&ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{s}})
				}
			}
		}
	}
	slices.Sort(api)
	got := strings.Join(api, "\n") + "\n"
	file := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the API changed (go test -update rewrites %s):\n%s", file, got)
	}
}

func typeName(e ast.Expr) string {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
