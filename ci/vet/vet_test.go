package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVet(t *testing.T) {
	t.Setenv("GOWORK", "off")
	const mod = "module example.org/m\n\ngo 1.26\n"
	for name, c := range map[string]struct {
		files  map[string]string
		target string
		want   string // "" finds nothing
		count  int
	}{
		"nothing to find":           {map[string]string{"a.go": "package m\n"}, "linux/amd64", "", 0},
		"a wrong format":            {map[string]string{"a.go": "package m\nimport \"fmt\"\nfunc F() { fmt.Printf(\"%d\", \"x\") }\n"}, "darwin/arm64", "a.go:3:24: fmt.Printf format %d has arg \"x\" of wrong type string (printf)", 1},
		"a wrong format in a test":  {map[string]string{"a.go": "package m\n", "a_test.go": "package m\nimport \"testing\"\nfunc TestX(t *testing.T) { t.Errorf(\"%d\", \"x\") }\n"}, "linux/arm64", "a_test.go:3:38: ", 1},
		"a format through a helper": {map[string]string{"a.go": "package m\nimport \"fmt\"\nfunc P(f string, a ...any) { fmt.Printf(f, a...) }\nfunc F() { P(\"%d\", \"x\") }\n"}, "linux/arm64", "a.go:4:15: example.org/m.P format %d has arg", 1},
		"broken on one system only": {map[string]string{"a.go": "package m\n", "a_windows.go": "package m\nvar _ = missing\n"}, "windows/arm64", "undefined: missing", 1},
		"not broken on the others":  {map[string]string{"a.go": "package m\n", "a_windows.go": "package m\nvar _ = missing\n"}, "linux/arm64", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.files["go.mod"] = mod
			for path, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			n, err := vet(&out, dir, c.target, []string{"./..."})
			if err != nil {
				t.Fatal(err)
			}
			if n != c.count || !strings.Contains(out.String(), c.want) {
				t.Errorf("%d findings, want %d with %q:\n%s", n, c.count, c.want, out.String())
			}
		})
	}
	if _, err := vet(&strings.Builder{}, t.TempDir(), "linux", nil); err == nil || err.Error() != "want OS/ARCH" {
		t.Errorf("a target without an architecture: %v", err)
	}
}
