package house

import (
	"fmt"
	"go/ast"
	"strings"
)

// EmptyTests finds tests that cannot fail: they never call Error, Fatal or Fail, and never hand their t to a function that could.
func EmptyTests(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !f.IsTest() {
			continue
		}
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Body != nil && isTestName(fn.Name.Name) && !canFail(fn.Body) {
				bad = append(bad, fmt.Sprintf("%s: %s asserts nothing", t.line(fn.Pos()), fn.Name.Name))
			}
		}
	}
	return bad
}

func isTestName(name string) bool {
	return name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz"))
}

func canFail(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			switch sel.Sel.Name {
			case "Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow":
				found = true
			}
		}
		for _, arg := range call.Args {
			if id, ok := arg.(*ast.Ident); ok && (id.Name == "t" || id.Name == "tb" || id.Name == "f") {
				found = true
			}
		}
		return !found
	})
	return found
}
