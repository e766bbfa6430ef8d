package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tools are programs of Windows that do a part of what srt-windows does. Their output is translated, and where they are found is for the
// caller's environment to say: srt-windows asks the system itself.
var tools = []string{"net", "net1", "netsh", "icacls", "cacls", "takeown", "whoami", "wmic", "schtasks", "auditpol", "secedit"}

// OwnWork checks that the code of srt-windows starts no other program for its work: it neither names one nor can start one by Go's library.
// Programs that it does start (the runner, the probe, the command) are started by calls of its own.
func OwnWork(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !f.IsGo() || f.IsTest() || !strings.HasPrefix(f.Path, "helpers/srt-windows/") {
			continue
		}
		if slices.Contains(f.Imports(), "os/exec") {
			bad = append(bad, f.Path+" imports os/exec: srt-windows calls no program for its work")
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.SelectorExpr:
				if n.Sel.Name == "StartProcess" {
					bad = append(bad, fmt.Sprintf("%s: StartProcess: srt-windows calls no program for its work", t.line(n.Pos())))
				}
			case *ast.BasicLit:
				if name := tool(n); name != "" {
					bad = append(bad, fmt.Sprintf("%s names %s: srt-windows calls no program for its work", t.line(n.Pos()), name))
				}
			}
			return true
		})
	}
	return bad
}

// tool gives the program that a string begins with, "" when it is none of them.
func tool(l *ast.BasicLit) string {
	text, err := strconv.Unquote(l.Value)
	if l.Kind != token.STRING || err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(first, `\`, "/")), ".exe")
	if slices.Contains(tools, name) {
		return name
	}
	return ""
}
