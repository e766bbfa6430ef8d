package fileplan

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

func mustPlan(b *testing.B, files wire.FilePolicy, dir string) {
	b.Helper()
	for b.Loop() {
		if _, _, err := Plan(files, Options{Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
}

func openPolicy(dir string) wire.FilePolicy {
	return wire.FilePolicy{AllowWrite: entries(dir), Protected: table, GitRules: true, ScanDepth: 3}
}

func repository(dir string) []string {
	var out []string
	for _, f := range []string{"HEAD", "config", "description", "index", "packed-refs", "hooks/pre-commit.sample", "info/exclude", "objects/info/", "refs/heads/", "logs/HEAD", "branches/"} {
		out = append(out, filepath.Join(dir, ".git", f)+map[bool]string{true: "/"}[f[len(f)-1] == '/'])
	}
	return out
}

// An ordinary project: one repository, forty directories, six hundred files in reach.
func BenchmarkOrdinaryProject(b *testing.B) {
	files := repository(".")
	for i := range 40 {
		for j := range 15 {
			files = append(files, fmt.Sprintf("pkg/d%d/f%d.go", i, j))
		}
	}
	w := tree(b, files...)
	mustPlan(b, openPolicy(w), w)
}

// 100,000 files and 50 repositories at depth 3; most files lie deeper.
func BenchmarkBigTree(b *testing.B) {
	var files []string
	for i := range 50 {
		dir := fmt.Sprintf("g%d/r%d", i%10, i)
		files = append(files, repository(dir)...)
		for j := range 2000 {
			files = append(files, fmt.Sprintf("%s/src/m%d/f%d", dir, j/50, j))
		}
	}
	w := tree(b, files...)
	mustPlan(b, openPolicy(w), w)
}

// A thousand packages in node_modules: directories within the search depth.
func BenchmarkNodeModules(b *testing.B) {
	var files []string
	for i := range 1000 {
		for _, f := range []string{"package.json", "index.js", "README.md", "lib/"} {
			files = append(files, fmt.Sprintf("node_modules/p%d/%s", i, f))
		}
	}
	w := tree(b, files...)
	mustPlan(b, openPolicy(w), w)
}

func benchEntries(b *testing.B, n int) {
	w := tree(b)
	var deny []string
	for i := range n {
		p := fmt.Sprintf("%s/d%d/f%d", w, i%100, i)
		if i < 100 {
			if err := os.Mkdir(filepath.Dir(p), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if i%2 == 0 {
			if err := os.WriteFile(p, nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		deny = append(deny, p)
	}
	files := openPolicy(w)
	files.DenyWrite = entries(deny...)
	mustPlan(b, files, w)
}

func BenchmarkEntries3000(b *testing.B)   { benchEntries(b, 3_000) }
func BenchmarkEntries100000(b *testing.B) { benchEntries(b, 100_000) }

// A pattern that has to look at every one of 20,000 files.
func BenchmarkDeepPattern(b *testing.B) {
	var files []string
	for i := range 20_000 {
		files = append(files, fmt.Sprintf("a%d/b%d/f%d", i/1000, i/50, i))
	}
	w := tree(b, files...)
	p := openPolicy(w)
	p.DenyRead = entries("glob:"+w+"/**/.env", "glob:"+w+"/**/*.pem")
	mustPlan(b, p, w)
}
