package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checks is every rule, by the sentence that it keeps true.
var checks = map[string]func(*Tree) []string{
	"modules import only what the architecture lets them":   Imports,
	"pure packages cannot touch the machine":                Purity,
	"the list of pure packages names packages":              MissingPure,
	"every package has one package comment":                 PackageComments,
	"what is exported has a comment":                        ExportedComments,
	"no file of code is too long":                           Length,
	"nothing is marked as unfinished":                       Leftovers,
	"Go files are formatted":                                Format,
	"unsafe stands in files whose names say so":             UnsafeFiles,
	"only our own modules are replaced":                     Replaces,
	"srt-windows calls no other program for its work":       OwnWork,
	"every test can fail":                                   EmptyTests,
	"every script says what it does and stops at its error": Scripts,
}

func TestThisTreeKeepsTheRules(t *testing.T) {
	tree, err := Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) < 100 {
		t.Fatalf("only %d files below ../..: the rules were not really checked", len(tree.Files))
	}
	for rule, check := range checks {
		t.Run(rule, func(t *testing.T) {
			for _, finding := range check(tree) {
				t.Error(finding)
			}
		})
	}
}

// bad is a small tree that breaks one rule, and what must be said about it. A want of "" is a tree that must pass.
type bad struct {
	check func(*Tree) []string
	files map[string]string
	want  string
}

const doc = "// Package p is.\npackage p\n"

var badTrees = map[string]bad{
	"the CLI imports a helper": {Imports, map[string]string{
		"cmd/srt/a.go": `package main; import _ "github.com/srt-dev/srt/helpers/srt-linux/seccomp"`,
	}, "cmd/srt/a.go imports github.com/srt-dev/srt/helpers/srt-linux/seccomp: the CLI knows helpers and proxyd by their contract only"},
	"a helper imports its sibling": {Imports, map[string]string{
		"helpers/srt-darwin/x/a.go": `package x; import _ "github.com/srt-dev/srt/helpers/srt-windows/acl"`,
	}, "helpers share nothing but the contract and path rules"},
	"a helper imports its sibling from a test": {Imports, map[string]string{
		"helpers/srt-darwin/x/a_test.go": `package x; import _ "github.com/srt-dev/srt/helpers/srt-windows/acl"`,
	}, "helpers share nothing but the contract and path rules"},
	"a name that only begins like the allowed one": {Imports, map[string]string{
		"helpers/srt-linux/x/a.go": `package x; import _ "github.com/srt-dev/srt/core/wirecutter"`,
	}, "helpers share nothing but the contract and path rules"},
	"proxyd imports settings": {Imports, map[string]string{
		"proxyd/acl/a.go": `package acl; import _ "github.com/srt-dev/srt/core/settings"`,
	}, "proxyd knows hosts, not files or processes"},
	"core imports proxyd": {Imports, map[string]string{
		"core/wire/a.go": `package wire; import _ "github.com/srt-dev/srt/proxyd/acl"`,
	}, "the core is below everything"},
	"a package of a helper imports the plugin transport": {Imports, map[string]string{
		"helpers/srt-linux/x/a.go": `package x; import _ "github.com/srt-dev/srt/core/pluginrpc"`,
	}, "helpers share nothing but the contract and path rules"},
	"the main of a helper imports the plugin transport": {Imports, map[string]string{
		"helpers/srt-linux/a.go": `package main; import _ "github.com/srt-dev/srt/core/pluginrpc"`,
	}, ""},
	"a program is imported": {Imports, map[string]string{
		"proxyd/a.go": `package main`, "proxyd/x/a.go": `package x; import _ "github.com/srt-dev/srt/proxyd"`,
	}, "a program is not a library"},
	"the test support is imported by a product": {Imports, map[string]string{
		"core/wire/a.go": `package wire; import _ "github.com/srt-dev/srt/core/srttest"`,
	}, "for tests only"},
	"the test support is imported by a test": {Imports, map[string]string{
		"helpers/srt-linux/x/a_test.go": `package x; import _ "github.com/srt-dev/srt/core/srttest"`,
	}, ""},
	"go-plugin outside its package": {Imports, map[string]string{
		"core/session/a.go": `package session; import _ "github.com/hashicorp/go-plugin"`,
	}, "linking it alone costs 20 ms of CPU a start"},
	"cgo in a product": {Imports, map[string]string{
		"helpers/srt-linux/seccomp/a.go": `package seccomp; import _ "github.com/seccomp/libseccomp-golang"`,
	}, "needs cgo"},
	"code outside the modules": {Imports, map[string]string{
		"tools/a.go": `package tools; import _ "github.com/srt-dev/srt/core/wire"`,
	}, "code lies in one of the modules"},

	"a listed pure package opens files":            {Purity, map[string]string{"proxyd/acl/a.go": `package acl; import _ "os"`}, "proxyd/acl/a.go imports os, but proxyd/acl is pure"},
	"a package that calls itself pure makes calls": {Purity, map[string]string{"core/x/a.go": "// Package x is. It\n// is pure.\npackage x", "core/x/b.go": `package x; import _ "golang.org/x/sys/unix"`}, "core/x/b.go imports golang.org/x/sys/unix, but core/x is pure"},
	"a pure package compares addresses":            {Purity, map[string]string{"proxyd/acl/a.go": `package acl; import _ "net/netip"`}, ""},
	"a test of a pure package reads files":         {Purity, map[string]string{"proxyd/acl/a.go": `package acl`, "proxyd/acl/a_test.go": `package acl; import _ "os"`}, ""},
	"a pure package was renamed":                   {MissingPure, map[string]string{"core/a.go": doc}, "proxyd/acl is on the list of pure packages and does not exist"},

	"a package without a comment":     {PackageComments, map[string]string{"p/a.go": "package p\n"}, "p: no package comment"},
	"two package comments":            {PackageComments, map[string]string{"p/a.go": doc, "p/b.go": doc}, "p: package comments in p/a.go and p/b.go"},
	"a comment that begins otherwise": {PackageComments, map[string]string{"p/a.go": "// This is.\npackage p\n"}, `p/a.go: the package comment does not begin with "Package p "`},
	"a build line is not a comment":   {PackageComments, map[string]string{"p/a.go": "//go:build linux\n\npackage p\n"}, "p: no package comment"},
	"a test's comment does not count": {PackageComments, map[string]string{"p/a.go": "package p\n", "p/a_test.go": doc}, "p: no package comment"},
	"one package comment":             {PackageComments, map[string]string{"p/a.go": doc, "p/b.go": "package p\n"}, ""},
	"an exported function, no word":   {ExportedComments, map[string]string{"p/a.go": doc + "func F() {}\n"}, "p/a.go:3: F has no comment"},
	"an exported type, no word":       {ExportedComments, map[string]string{"p/a.go": doc + "type T int\n"}, "p/a.go:3: T has no comment"},
	"a function of one's own":         {ExportedComments, map[string]string{"p/a.go": doc + "func f() {}\n"}, ""},

	"a long file":             {Length, map[string]string{"p/a.go": doc + strings.Repeat("\n", 400)}, "p/a.go: 402 lines, at most 400"},
	"a long script":           {Length, map[string]string{"scripts/a": "#!/bin/sh\n" + strings.Repeat("\n", 400)}, "scripts/a: 401 lines, at most 400"},
	"a long document":         {Length, map[string]string{"a.md": strings.Repeat("\n", 999)}, ""},
	"a mark in a comment":     {Leftovers, map[string]string{"p/a.go": doc + "// FIX" + "ME: later\n"}, "p/a.go:3: FIX" + "ME"},
	"a mark in a script":      {Leftovers, map[string]string{"scripts/a": "#!/bin/sh\n# TO" + "DO(me)\n"}, "scripts/a:2: TO" + "DO"},
	"a word that contains it": {Leftovers, map[string]string{"p/a.go": doc + "// MAXTO" + "DOS\n"}, ""},
	"badly formatted":         {Format, map[string]string{"p/a.go": doc + "var  x = 1\n"}, "p/a.go: not as gofmt writes it"},

	"unsafe anywhere":             {UnsafeFiles, map[string]string{"p/a.go": `package p; import _ "unsafe"`}, "p/a.go imports unsafe"},
	"unsafe in a file named so":   {UnsafeFiles, map[string]string{"p/a_linux_unsafe.go": `package p; import _ "unsafe"`, "p/b_unsafe_test.go": `package p; import _ "unsafe"`}, ""},
	"unsafe in a name like that":  {UnsafeFiles, map[string]string{"p/notunsafe.go": `package p; import _ "unsafe"`}, "p/notunsafe.go imports unsafe"},
	"another's module replaced":   {Replaces, map[string]string{"core/go.mod": "replace golang.org/x/net => ../net\n"}, "core/go.mod replaces golang.org/x/net by ../net"},
	"our module from elsewhere":   {Replaces, map[string]string{"proxyd/go.mod": "replace github.com/srt-dev/srt/core => ../../core\n"}, "proxyd/go.mod replaces github.com/srt-dev/srt/core by ../../core"},
	"a fork, in a block":          {Replaces, map[string]string{"core/go.mod": "replace (\n\tgolang.org/x/net v0.1.0 => github.com/me/net v0.2.0\n)\n"}, "core/go.mod replaces golang.org/x/net v0.1.0 by github.com/me/net v0.2.0"},
	"our module by its directory": {Replaces, map[string]string{"proxyd/go.mod": "replace github.com/srt-dev/srt/core => ../core\n"}, ""},

	"srt-windows starts programs":                         {OwnWork, map[string]string{"helpers/srt-windows/a.go": `package p; import _ "os/exec"`}, "helpers/srt-windows/a.go imports os/exec"},
	"srt-windows starts one the other way":                {OwnWork, map[string]string{"helpers/srt-windows/x/a.go": `package p; var f = syscall.StartProcess`}, "helpers/srt-windows/x/a.go:1: StartProcess"},
	"srt-windows names a tool":                            {OwnWork, map[string]string{"helpers/srt-windows/x/a.go": "package p\nvar s = `C:\\Windows\\System32\\ICACLS.exe`\n"}, "helpers/srt-windows/x/a.go:2 names icacls"},
	"srt-windows names a line for a tool":                 {OwnWork, map[string]string{"helpers/srt-windows/x/a.go": "package p\nvar s = \"net user x /add\"\n"}, "helpers/srt-windows/x/a.go:2 names net"},
	"srt-windows imports net, and speaks of the internet": {OwnWork, map[string]string{"helpers/srt-windows/x/a.go": "package p\nimport _ \"net\"\nvar s = \"network of net\"\n"}, ""},
	"a test of srt-windows starts a program":              {OwnWork, map[string]string{"helpers/srt-windows/x/a_test.go": `package p; import _ "os/exec"`}, ""},

	"a test that only runs":          {EmptyTests, map[string]string{"p/a_test.go": "package p\nfunc TestX(t *testing.T) { f() }\n"}, "p/a_test.go:2: TestX asserts nothing"},
	"a test whose helper asserts":    {EmptyTests, map[string]string{"p/a_test.go": "package p\nfunc TestX(t *testing.T) { check(t, 1) }\n"}, ""},
	"a fuzz target that only parses": {EmptyTests, map[string]string{"p/a_test.go": "package p\nfunc FuzzX(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { Parse(s) }) }\n"}, "p/a_test.go:2: FuzzX asserts nothing"},

	"a script that goes on after an error": {Scripts, map[string]string{"scripts/a": "#!/usr/bin/env bash\n# Does.\nfalse\n"}, "scripts/a: no \"set -euo pipefail\""},
	"a script that does not say what for":  {Scripts, map[string]string{"scripts/a": "#!/usr/bin/env bash\nset -euo pipefail\n"}, "scripts/a: no comment says what it does"},
	"a good script":                        {Scripts, map[string]string{"scripts/a": "#!/usr/bin/env bash\n# Does.\nset -euo pipefail\n"}, ""},
}

func TestBadTreesAreFound(t *testing.T) {
	for name, b := range badTrees {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range b.files {
				p := filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tree, err := Load(root)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(b.check(tree), "\n")
			if b.want == "" && got != "" || b.want != "" && !strings.Contains(got, b.want) {
				t.Errorf("found %q, want %q", got, b.want)
			}
		})
	}
}

func TestTheTreeLeavesOutWhatIsNotSource(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"a.go", "bin/b.go", "x/testdata/c.go", "dist/d.go", ".git/e.go"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, p), []byte("package x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "x", "binary"), []byte{1, 0, 2}, 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) != 1 || tree.Files[0].Path != "a.go" {
		t.Errorf("files %v, want a.go alone", tree.Files)
	}
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(root); err == nil || !strings.HasPrefix(err.Error(), "read tree: parse: a.go:1:") {
		t.Errorf("a file that does not parse: %v", err)
	}
}
