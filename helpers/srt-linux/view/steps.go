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

// A Step is one mount of a view.
type Step struct {
	Target
	Kind Kind
}

// Steps gives what is to be mounted in the order of mounting: by path, so that parents come first, and for one path by kind. /dev and
// /proc are left out: the sandbox has its own of these two, whatever the policy says of the host's.
func (v *View) Steps() []Step {
	steps := make([]Step, 0, len(v.Write)+len(v.Reopen)+len(v.ReadOnly)+len(v.Hide))
	for kind, targets := range [...][]Target{KindWrite: v.Write, KindReopen: v.Reopen, KindReadOnly: v.ReadOnly, KindHide: v.Hide} {
		for _, t := range targets {
			if !within("/dev", t.Path) && !within("/proc", t.Path) {
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
		if within("/proc", t.Path) {
			list = append(list, t)
		}
	}
	return list
}

func within(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
