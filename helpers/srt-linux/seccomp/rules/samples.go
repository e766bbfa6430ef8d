package rules

import "slices"

// Samples gives argument lists that stand on both sides of every condition that the rules put on call nr. For tests of a filter.
func Samples(rules []Rule, nr int) [][6]uint64 {
	perArg := map[int][]uint64{}
	for _, r := range rules {
		if r.Number != nr {
			continue
		}
		for _, m := range r.When {
			perArg[m.Arg] = append(perArg[m.Arg], values(m)...)
		}
	}
	out := [][6]uint64{{}}
	for arg := range 6 {
		vs := perArg[arg]
		if len(vs) == 0 {
			continue
		}
		slices.Sort(vs)
		var next [][6]uint64
		for _, v := range slices.Compact(vs) {
			for _, args := range out {
				args[arg] = v
				next = append(next, args)
			}
		}
		out = next
	}
	return out
}

// values gives values of one argument around a condition: equal, one off, some bits of difference, and a set upper half.
func values(m Match) []uint64 {
	centres := m.Except
	if m.Except == nil {
		centres = []uint32{m.Value}
	}
	out := []uint64{0, 0xffffffff, 0xffffffffffffffff}
	for _, c := range centres {
		v := uint64(c)
		out = append(out, v, v+1, v-1, v|1<<32, v|1<<63)
		if m.Except == nil {
			out = append(out, v|uint64(^m.Mask))
		}
		for _, bit := range []int{1, 2, 3, 4, 31} {
			out = append(out, v^1<<bit)
		}
	}
	return out
}
