package rules

import "slices"

// Match is a condition on one argument. The kernel looks at the low 32 bits of an int argument and ignores the rest, so an equality
// that looked at all 64 would let AF_UNIX|1<<32 through: every Match compares 32 bits under a mask.
type Match struct {
	Arg         int
	Mask, Value uint32   // holds when arg & Mask == Value
	Except      []uint32 // when set, instead: holds for every value but these
}

// is matches an int argument that equals value.
func is(arg int, value uint32) Match { return Match{Arg: arg, Mask: 0xffffffff, Value: value} }

// under matches an int argument whose bits under mask equal value.
func under(arg int, mask, value uint32) Match { return Match{Arg: arg, Mask: mask, Value: value} }

// has matches when every bit of bits is set.
func has(arg int, bits uint32) Match { return under(arg, bits, bits) }

// noneOf matches every int argument but the listed values.
func noneOf(arg int, values ...uint32) Match { return Match{Arg: arg, Except: values} }

// Holds says whether the condition is true of the six arguments of a call.
func (m Match) Holds(args [6]uint64) bool {
	v := uint32(args[m.Arg])
	if m.Except != nil {
		return !slices.Contains(m.Except, v)
	}
	return v&m.Mask == m.Value
}
