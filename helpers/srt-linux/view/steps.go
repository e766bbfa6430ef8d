package view

import (
	"slices"
	"strings"
)

// Kind is what is done with one path of a view.
type Kind byte

// The kinds, in the order in which they are applied to one path.
const (
	KindWrite Kind = iota
	KindReopen
	KindReadOnly
	KindHide
)

// A Step is one mount of a view; its Target is the view's own.
type Step struct {
	*Target
	Kind Kind
}

// Steps gives what is to be mounted in the order of mounting: by path, so that parents come first, and for one path by kind. /dev and
// /proc are left out: the sandbox has its own of these two, whatever the policy says of the host's.
func (v *View) Steps() []Step {
	steps := make([]Step, 0, len(v.Write)+len(v.Reopen)+len(v.ReadOnly)+len(v.Hide))
	for kind, targets := range [...][]Target{KindWrite: v.Write, KindReopen: v.Reopen, KindReadOnly: v.ReadOnly, KindHide: v.Hide} {
		for i := range targets {
			if t := &targets[i]; !Within(t.Path, "/dev") && !Within(t.Path, "/proc") {
				steps = append(steps, Step{t, Kind(kind)})
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	return steps
}

// HiddenProc gives what is hidden of the machine's part of /proc, which each PID namespace has anew.
func (v *View) HiddenProc() []Target {
	var list []Target
	for _, t := range v.Hide {
		if Within(t.Path, "/proc") {
			list = append(list, t)
		}
	}
	return list
}

// WritableRoot says whether the whole tree is writable, but for what the other lists take back.
func (v *View) WritableRoot() bool {
	return v.Unrestricted || slices.ContainsFunc(v.Write, func(t Target) bool { return t.Path == "/" })
}

// Within says whether path is dir or lies below it. Both are clean and absolute.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
