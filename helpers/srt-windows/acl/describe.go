package acl

import (
	"fmt"
	"strings"
)

// Describe gives a plan as text: what is written where, in the order in which it is written.
func Describe(p Plan) string {
	var b strings.Builder
	for _, c := range p.Changes {
		kind := "file"
		if c.Object.Dir {
			kind = "dir"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", kind, c.Object.Path, c.Why)
		for _, a := range c.Add {
			fmt.Fprintf(&b, "  %s\n", a)
		}
	}
	for _, r := range p.Roots {
		fmt.Fprintf(&b, "root %s %s\n", r.Path, r.SID)
	}
	for _, w := range p.Watch {
		fmt.Fprintf(&b, "watch %s\n", w)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}
