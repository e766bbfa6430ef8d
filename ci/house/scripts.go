package house

import (
	"fmt"
	"path"
	"strings"
)

// Scripts checks that every script below scripts and .ci stops at its first error and begins with a comment.
func Scripts(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !isScript(f) || !under(path.Dir(f.Path), "scripts") && !under(path.Dir(f.Path), ".ci") {
			continue
		}
		lines := strings.Split(string(f.Text), "\n")
		if !strings.Contains(string(f.Text), "\nset -euo pipefail\n") {
			bad = append(bad, fmt.Sprintf("%s: no %q", f.Path, "set -euo pipefail"))
		}
		if len(lines) < 2 || !strings.HasPrefix(lines[1], "# ") {
			bad = append(bad, f.Path+": no comment says what it does")
		}
	}
	return bad
}
