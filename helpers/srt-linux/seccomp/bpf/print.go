package bpf

import (
	"fmt"
	"strings"
)

// Names supply words for numbers in a listing; "" keeps the number.
type Names struct {
	Call    func(nr uint32) string
	Verdict func(v uint32) string
}

// Print lists p, one instruction a line, with absolute jump targets and, for a comparison, what was loaded last.
func Print(p []Inst, n Names) string {
	loaded := make([]string, len(p)+1) // what the accumulator holds before each instruction
	flow := func(to int, what string) {
		if to <= len(p) {
			loaded[to] = what
		}
	}
	var b strings.Builder
	for pc, i := range p {
		fmt.Fprintf(&b, "%4d  ", pc)
		have := loaded[pc]
		switch i.Code {
		case LoadAbs:
			have = field(i.K)
			fmt.Fprintf(&b, "load   %s", have)
			flow(pc+1, have)
		case And:
			fmt.Fprintf(&b, "and    %#x", i.K)
			flow(pc+1, have)
		case Jump:
			fmt.Fprintf(&b, "goto   %d", pc+1+int(i.K))
			flow(pc+1+int(i.K), have)
		case JumpEqual, JumpGT, JumpGE, JumpSet:
			yes, no := pc+1+int(i.Jt), pc+1+int(i.Jf)
			flow(yes, have)
			flow(no, have)
			fmt.Fprintf(&b, "if     %s %s %s goto %d else %d", have, operators[i.Code], operand(n, have, i), yes, no)
		case Return:
			fmt.Fprintf(&b, "return %s", word(n.Verdict, i.K))
		default:
			fmt.Fprintf(&b, "?      code %#x", i.Code)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var operators = map[uint16]string{JumpEqual: "==", JumpGT: ">", JumpGE: ">=", JumpSet: "&"}

func operand(n Names, have string, i Inst) string {
	if have == "nr" && i.Code == JumpEqual {
		return word(n.Call, i.K)
	}
	return word(nil, i.K)
}

func word(name func(uint32) string, v uint32) string {
	if name != nil {
		if s := name(v); s != "" {
			return s
		}
	}
	return fmt.Sprintf("%#x", v)
}

func field(offset uint32) string {
	switch {
	case offset == OffsetNumber:
		return "nr"
	case offset == OffsetArch:
		return "arch"
	case offset >= offsetArgs && offset < dataSize && offset%8 == 0:
		return fmt.Sprintf("arg%d low", (offset-offsetArgs)/8)
	case offset >= offsetArgs && offset < dataSize && offset%8 == 4:
		return fmt.Sprintf("arg%d high", (offset-offsetArgs)/8)
	}
	return fmt.Sprintf("offset %d", offset)
}
