package pathrule

import (
	"maps"
	"slices"
)

// GitWork lists the names in small letters that GitMayChange allows as they are, sorted, for rules that have to spell them out.
func GitWork() []string { return slices.Sorted(maps.Keys(gitWork)) }
