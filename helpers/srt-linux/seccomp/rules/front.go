package rules

import (
	"math"
	"slices"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
)

// newestInLibrary is the highest number that libseccomp 2.5.4, the oldest version that generates, knows on both architectures.
const newestInLibrary = 450

// InFront says whether libseccomp cannot say the rule: it has no "none of these values" for 32 bits (spelt out, that took 300
// instructions and met a bug of 2.5.4 that judged one argument by another), and it is older than some calls.
func (r Rule) InFront() bool {
	return r.Number > newestInLibrary || slices.ContainsFunc(r.When, func(m Match) bool { return m.Except != nil })
}

// Front is the beginning of every filter, in front of libseccomp's program: it refuses call numbers above LastReviewed and applies
// the given rules. Whatever it does not refuse, and every foreign architecture, x32 number and -1, falls through to that program.
//
// It is a row of blocks. Every block starts by loading what it compares, jumps only within itself or to the next block, and lets
// nothing through by itself, so each can be read alone.
func Front(a Arch, rs []Rule) []bpf.Inst {
	var blocks [][]bpf.Inst
	for _, r := range rs {
		blocks = append(blocks, block(r))
	}
	blocks = append([][]bpf.Inst{{
		{Code: bpf.LoadAbs, K: bpf.OffsetNumber},
		{Code: bpf.JumpGT, K: LastReviewed, Jf: 1},
		{Code: bpf.Return, K: uint32(TooNew)},
	}}, blocks...)
	rest := slices.Concat(blocks...)
	if len(rest)+2 > math.MaxUint8 {
		panic("rules: the front is too long for one jump (a bug, please report)")
	}
	head := []bpf.Inst{
		{Code: bpf.LoadAbs, K: bpf.OffsetArch},
		{Code: bpf.JumpEqual, K: a.Audit, Jf: uint8(2 + len(rest))},
		{Code: bpf.LoadAbs, K: bpf.OffsetNumber},
		{Code: bpf.JumpGE, K: X32Bit, Jt: uint8(len(rest))},
	}
	return append(head, rest...)
}

// block applies one rule: it returns the verdict when the number and all conditions hold, else it ends behind its last instruction.
func block(r Rule) []bpf.Inst {
	b := []bpf.Inst{
		{Code: bpf.LoadAbs, K: bpf.OffsetNumber},
		{Code: bpf.JumpEqual, K: uint32(r.Number)},
	}
	for _, m := range r.When {
		b = append(b, bpf.Inst{Code: bpf.LoadAbs, K: bpf.OffsetArg(m.Arg)})
		if m.Except == nil {
			b = append(b, bpf.Inst{Code: bpf.And, K: m.Mask}, bpf.Inst{Code: bpf.JumpEqual, K: m.Value})
		}
		for _, v := range m.Except {
			b = append(b, bpf.Inst{Code: bpf.JumpEqual, K: v, Jt: 1}) // 1: leaves the block, set below
		}
	}
	b = append(b, bpf.Inst{Code: bpf.Return, K: uint32(r.Verdict)})
	for i := range b {
		if b[i].Code != bpf.JumpEqual {
			continue
		}
		leave := uint8(len(b) - 1 - i)
		if b[i].Jt == 1 {
			b[i].Jt = leave
		} else {
			b[i].Jf = leave
		}
	}
	return b
}
