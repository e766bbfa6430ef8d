package house

import (
	"fmt"
	"slices"
	"strings"
)

// pure packages decide and compute; they must not be able to touch the machine. A package whose comment says "It is pure" is held to
// it too.
var pure = []string{
	"core/hostmatch",                  // judges hosts
	"core/pathrule",                   // judges paths
	"core/policy",                     // settings to policy
	"core/environ",                    // builds the command's environment
	"core/violation",                  // stores and sanitises
	"proxyd/acl",                      // judges connections
	"proxyd/ipclass",                  // classifies addresses
	"helpers/srt-linux/bwrap",         // mounts to arguments
	"helpers/srt-linux/seccomp/rules", // the table of calls
	"helpers/srt-linux/seccomp/bpf",   // runs filters in tests
	"helpers/srt-darwin/profile",      // policy to Seatbelt text
	"helpers/srt-darwin/sbpl",         // quotes it
}

// impure packages reach the machine: files, sockets, processes, memory. net/netip and net/url only compute.
var impure = []string{"os", "os/exec", "os/user", "os/signal", "net", "net/http", "syscall", "unsafe", "plugin", "runtime/cgo", "golang.org/x/sys"}

// Purity checks that pure packages import nothing impure, and that the packages of the list exist. Tests may.
func Purity(t *Tree) []string {
	var bad []string
	pkgs := t.packages()
	for dir, files := range pkgs {
		declared := slices.ContainsFunc(files, func(f File) bool {
			return f.Syntax.Doc != nil && strings.Contains(strings.ReplaceAll(f.Syntax.Doc.Text(), "\n", " "), "It is pure")
		})
		if !declared && !slices.Contains(pure, dir) {
			continue
		}
		for _, f := range files {
			for _, p := range f.Imports() {
				if slices.Contains(impure, p) || under(p, "golang.org/x/sys") {
					bad = append(bad, fmt.Sprintf("%s imports %s, but %s is pure", f.Path, p, dir))
				}
			}
		}
	}
	return bad
}

// MissingPure lists packages of the table that the tree does not have: a package that was renamed would escape the rule.
func MissingPure(t *Tree) []string {
	var bad []string
	pkgs := t.packages()
	for _, dir := range pure {
		if len(pkgs[dir]) == 0 {
			bad = append(bad, dir+" is on the list of pure packages and does not exist")
		}
	}
	return bad
}
