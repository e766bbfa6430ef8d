package rules

import (
	"slices"
)

// Match is a condition on one argument. The kernel looks at the low 32 bits of an int argument and ignores the rest, so an equality
// that looked at all 64 would let AF_UNIX|1<<32 through: every Match compares under a 32-bit mask.
type Match struct {
	arg         int
	mask, value uint32
	except      []uint32 // when set: any value but these
}

// is matches an int argument that equals value.
func is(arg int, value uint32) Match { return Match{arg: arg, mask: 0xffffffff, value: value} }

// under matches an int argument whose bits under mask equal value.
func under(arg int, mask, value uint32) Match { return Match{arg: arg, mask: mask, value: value} }

// has matches when every bit of bits is set.
func has(arg int, bits uint32) Match { return under(arg, bits, bits) }

// noneOf matches every value but the listed ones. A listed value with anything in its upper half counts as another value:
// where the list is what is allowed, that refuses.
func noneOf(arg int, values ...uint32) Match { return Match{arg: arg, except: values} }

// Compare is one comparison as BPF can make it: (arg & Mask) == Value, or arg > Value on all 64 bits when Above is set.
type Compare struct {
	Arg         int
	Above       bool
	Mask, Value uint32
}

// Holds says whether the comparison is true of an argument.
func (c Compare) Holds(arg uint64) bool {
	if c.Above {
		return arg > uint64(c.Value)
	}
	return uint32(arg)&c.Mask == c.Value
}

// Holds says whether the condition is true of the six arguments of a call. It states the meaning; alternatives are its translation.
func (m Match) Holds(args [6]uint64) bool {
	if m.except != nil {
		return !slices.ContainsFunc(m.except, func(v uint32) bool { return args[m.arg] == uint64(v) })
	}
	return uint32(args[m.arg])&m.mask == m.value
}

// alternatives translates a Match into comparisons of which one must hold.
func (m Match) alternatives() []Compare {
	if m.except == nil {
		return []Compare{{Arg: m.arg, Mask: m.mask, Value: m.value}}
	}
	last := slices.Max(m.except)
	out := []Compare{{Arg: m.arg, Above: true, Value: last}}
	for v := range last {
		if !slices.Contains(m.except, v) {
			out = append(out, Compare{Arg: m.arg, Mask: 0xffffffff, Value: v})
		}
	}
	return out
}

// conjunctions translates conditions that must all hold into lists of comparisons: a call matches when all comparisons of one list
// hold. No conditions give one empty list: every call matches.
func conjunctions(when []Match) [][]Compare {
	out := [][]Compare{nil}
	for _, m := range when {
		var next [][]Compare
		for _, head := range out {
			for _, c := range m.alternatives() {
				next = append(next, append(slices.Clone(head), c))
			}
		}
		out = next
	}
	return out
}
