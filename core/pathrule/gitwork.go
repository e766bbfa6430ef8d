package pathrule

import (
	"maps"
	"slices"
)

// GitWork lists the names in small letters that GitMayChange allows as they are, sorted, for rules that have to spell them out.
func GitWork() []string { return slices.Sorted(maps.Keys(gitWork)) }

// GitTemporary lists the beginnings of names that GitMayChange allows with anything behind them.
func GitTemporary() []string { return slices.Clone(gitTemporary) }
