package house

import (
	"fmt"
	"slices"
	"strings"
)

// module is the common prefix of our import paths.
const module = "github.com/srt-dev/srt/"

// importRule says which of our own packages the packages below From may import. A package may always import what lies in its own From.
type importRule struct {
	From string   // directory
	May  []string // directories
	Main []string // more, for the package main directories only
	Why  string
}

// The first rule whose From holds the importer counts.
var importRules = []importRule{
	{"cmd/srt", []string{"core"}, nil, "the CLI knows helpers and proxyd by their contract only"},
	{"helpers/srt-linux", []string{"core/wire", "core/oneshot", "core/pathrule", "core/entry"}, []string{"core/pluginrpc"}, "helpers share nothing but the contract and path rules"},
	{"helpers/srt-darwin", []string{"core/wire", "core/oneshot", "core/pathrule"}, []string{"core/pluginrpc"}, "helpers share nothing but the contract and path rules"},
	{"helpers/srt-windows", []string{"core/wire", "core/oneshot", "core/pathrule"}, []string{"core/pluginrpc"}, "helpers share nothing but the contract and path rules"},
	{"proxyd", []string{"core/wire", "core/oneshot", "core/hostmatch"}, []string{"core/pluginrpc"}, "proxyd knows hosts, not files or processes"},
	{"core", nil, nil, "the core is below everything"},
	{"ci", nil, nil, "the checks read sources, they do not link them"},
	{"", nil, nil, "code lies in one of the modules"},
}

// forTests, and what lies in it, may be imported by any test.
const forTests = "core/srttest"

// thirdParty says who may import a module of others, where that is not everybody.
var thirdParty = []struct {
	Module string
	In     []string
	Why    string
}{
	{"github.com/hashicorp/go-plugin", []string{"core/pluginrpc"}, "linking it alone costs 20 ms of CPU a start"},
	{"google.golang.org/grpc", []string{"core/pluginrpc"}, "comes with go-plugin"},
	{"google.golang.org/protobuf", []string{"core/pluginrpc"}, "comes with go-plugin"},
	{"github.com/seccomp/libseccomp-golang", []string{"helpers/srt-linux/seccomp/gen"}, "needs cgo: runs when filters are generated, never in a product"},
	{"github.com/armon/go-socks5", []string{"proxyd"}, "the SOCKS front end"},
}

// Imports checks importRules and thirdParty.
func Imports(t *Tree) []string {
	mains := map[string]bool{}
	for dir, files := range t.packages() {
		mains[dir] = files[0].Syntax.Name.Name == "main"
	}
	var bad []string
	for _, f := range t.Files {
		if !f.IsGo() {
			continue
		}
		for _, path := range f.Imports() {
			if why := forbidden(f, path, mains); why != "" {
				bad = append(bad, fmt.Sprintf("%s imports %s: %s", f.Path, path, why))
			}
		}
	}
	return bad
}

func forbidden(f File, path string, mains map[string]bool) string {
	for _, p := range thirdParty {
		if under(path, p.Module) && !slices.ContainsFunc(p.In, func(dir string) bool { return under(f.Dir(), dir) }) {
			return p.Why
		}
	}
	dir, ours := strings.CutPrefix(path, module)
	if !ours {
		return ""
	}
	if under(dir, forTests) {
		if f.IsTest() || under(f.Dir(), forTests) {
			return ""
		}
		return "for tests only"
	}
	if mains[dir] {
		return "a program is not a library"
	}
	for _, r := range importRules {
		if r.From != "" && !under(f.Dir(), r.From) {
			continue
		}
		may := r.May
		if mains[f.Dir()] {
			may = slices.Concat(may, r.Main)
		}
		if r.From != "" && under(dir, r.From) || slices.ContainsFunc(may, func(m string) bool { return under(dir, m) }) {
			return ""
		}
		return r.Why
	}
	return "no rule allows it"
}
