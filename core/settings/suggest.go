package settings

import (
	"fmt"
	"slices"
	"strings"
)

// suggest gives the hint for a key that does not exist in the section with the given prefix ("" or "network.").
func suggest(prefix, name string) string {
	if i := row(name); i >= 0 && strings.Contains(name, ".") {
		outer, inner, _ := strings.Cut(name, ".")
		return fmt.Sprintf("write it nested: {%q: {%q: …}}", outer, inner)
	}
	if best := Nearest(name, inSection(prefix, Used, Unused, Later, Never)); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	for i := range keys { // the right word in the wrong section
		if p := keys[i].Path; strings.EqualFold(p[strings.LastIndexByte(p, '.')+1:], name) {
			return "did you mean " + p + "?"
		}
	}
	where := strings.TrimSuffix(prefix, ".")
	if where == "" {
		where = "the top level"
	}
	return "the keys of " + where + " are " + strings.Join(inSection(prefix, Used), ", ")
}

// inSection names the keys of a section that have one of the uses.
func inSection(prefix string, uses ...Use) []string {
	var names []string
	for i := range keys {
		rest, ok := strings.CutPrefix(keys[i].Path, prefix)
		if ok && !strings.Contains(rest, ".") && slices.Contains(uses, keys[i].Use) {
			names = append(names, rest)
		}
	}
	return names
}

// Nearest gives the candidate that a misspelt word most probably means, or "" when none is near.
func Nearest(word string, candidates []string) string {
	best, least := "", 1+max(1, min(len(word), 40)/4)
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c), least); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of insertions, removals, replacements and swaps of neighbours between a and b, or limit if it is not less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return min(prev[len(b)], limit)
}
