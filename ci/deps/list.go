package deps

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// List gives every package that the program links on an operating system, with the standard library's own.
func List(root string, p Program, system string) (all []string, err error) {
	c := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}{{if .Standard}} standard{{end}}", p.Package)
	c.Dir = root
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+system, "GOARCH=amd64")
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("list %s for %s: %s", p.Name, system, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("list %s for %s: %w", p.Name, system, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// Golden is the part of a list that is kept: what does not come with Go, sorted.
func Golden(all []string) string {
	var out []string
	for _, l := range all {
		if !strings.HasSuffix(l, " standard") {
			out = append(out, l+"\n")
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// Forbidden gives what the list has and must not have.
func Forbidden(p Program, all []string) []string {
	var bad []string
	for _, l := range all {
		path := strings.TrimSuffix(l, " standard")
		for _, n := range p.Never {
			if path == n.Package || strings.HasPrefix(path, n.Package+"/") {
				bad = append(bad, fmt.Sprintf("%s links %s: %s", p.Name, path, n.Why))
			}
		}
	}
	return bad
}
