// Command vet does what "go vet" does, for several targets in seconds: "vet [-dir DIR] OS/ARCH… -- PACKAGE…". go vet compiles every
// dependency for every target first, which takes minutes of a cold machine; this reads types from source, with the same analyses
// (golang.org/x/tools is here for that). A package that does not compile for a target is a finding. It must never report success
// for a target that it did not look at.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("dir", ".", "directory that the packages are relative to")
	flag.Parse()
	args := flag.Args()
	sep := slices.Index(args, "--")
	if sep < 1 || sep == len(args)-1 {
		fmt.Fprintln(os.Stderr, "usage: vet [-dir DIR] OS/ARCH… -- PACKAGE…")
		os.Exit(2)
	}
	ok := true
	for _, target := range args[:sep] {
		n, err := vet(os.Stdout, *dir, target, args[sep+1:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "vet: %s: %v\n", target, err)
			os.Exit(2)
		}
		if n > 0 {
			fmt.Printf("vet: %s: %d findings\n", target, n)
			ok = false
		}
	}
	if !ok {
		os.Exit(1)
	}
}

// vet looks at packages and their tests for one target, writes what it finds and counts it.
func vet(out io.Writer, dir, target string, patterns []string) (findings int, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return 0, fmt.Errorf("want OS/ARCH")
	}
	pkgs, err := packages.Load(&packages.Config{
		Dir:   dir,
		Tests: true,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return 0, err
	}
	if len(pkgs) == 0 {
		return 0, fmt.Errorf("no packages")
	}
	seen := map[string]bool{} // a file belongs to its package and to the package's test variant
	finding := func(text string) {
		if !seen[text] {
			seen[text] = true
			fmt.Fprintln(out, text)
		}
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			finding(e.Error())
		}
	})
	if len(seen) > 0 {
		return len(seen), nil // what does not compile cannot be analysed
	}
	graph, err := checker.Analyze(analyzers, pkgs, nil)
	if err != nil {
		return 0, err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			finding(fmt.Sprintf("%s: %s: %v", act.Package.PkgPath, act.Analyzer.Name, act.Err))
		}
		for _, d := range act.Diagnostics {
			finding(fmt.Sprintf("%s: %s (%s)", act.Package.Fset.Position(d.Pos), d.Message, act.Analyzer.Name))
		}
	}
	return len(seen), nil
}
