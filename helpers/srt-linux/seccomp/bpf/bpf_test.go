package bpf

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	data := Data{Number: 7, Arch: 9, IP: 1<<32 | 3, Args: [6]uint64{0xaaaa_0000_bbbb, 1, 2, 3, 4, 5}}
	ret := func(k uint32) Inst { return Inst{Code: Return, K: k} }
	for name, c := range map[string]struct {
		p    []Inst
		want uint32
		err  string
	}{
		"a verdict":                       {p: []Inst{ret(5)}, want: 5},
		"the number":                      {p: []Inst{{Code: LoadAbs}, {Code: JumpEqual, K: 7, Jf: 1}, ret(1), ret(2)}, want: 1},
		"the architecture":                {p: []Inst{{Code: LoadAbs, K: OffsetArch}, {Code: JumpEqual, K: 8, Jf: 1}, ret(1), ret(2)}, want: 2},
		"the low half of an argument":     {p: []Inst{{Code: LoadAbs, K: OffsetArg(0)}, {Code: JumpEqual, K: 0xbbbb, Jf: 1}, ret(1), ret(2)}, want: 1},
		"the high half of an argument":    {p: []Inst{{Code: LoadAbs, K: OffsetArg(0) + 4}, {Code: JumpEqual, K: 0xaaaa, Jf: 1}, ret(1), ret(2)}, want: 1},
		"the last argument":               {p: []Inst{{Code: LoadAbs, K: OffsetArg(5)}, {Code: JumpGE, K: 5, Jf: 1}, ret(1), ret(2)}, want: 1},
		"a mask":                          {p: []Inst{{Code: LoadAbs, K: OffsetArg(3)}, {Code: And, K: 2}, {Code: JumpEqual, K: 2, Jf: 1}, ret(1), ret(2)}, want: 1},
		"greater is not equal":            {p: []Inst{{Code: LoadAbs}, {Code: JumpGT, K: 7, Jf: 1}, ret(1), ret(2)}, want: 2},
		"a set bit":                       {p: []Inst{{Code: LoadAbs}, {Code: JumpSet, K: 4, Jf: 1}, ret(1), ret(2)}, want: 1},
		"a jump":                          {p: []Inst{{Code: Jump, K: 1}, ret(1), ret(2)}, want: 2},
		"a jump past the end":             {p: []Inst{{Code: Jump, K: 1}, ret(1)}, err: "the program runs off its end"},
		"a jump far past the end":         {p: []Inst{{Code: Jump, K: 0xffffffff}, ret(1)}, err: "instruction 0: jump past the end"},
		"a branch past the end":           {p: []Inst{{Code: JumpEqual, Jt: 9}, ret(1)}, err: "the program runs off its end"},
		"no return":                       {p: []Inst{{Code: LoadAbs}}, err: "the program runs off its end"},
		"an instruction of another kind":  {p: []Inst{{Code: 0x30}, ret(1)}, err: "instruction 0: unknown code 0x30"},
		"a load between words":            {p: []Inst{{Code: LoadAbs, K: 2}, ret(1)}, err: "instruction 0: load at offset 2"},
		"a load behind the last argument": {p: []Inst{{Code: LoadAbs, K: 64}, ret(1)}, err: "instruction 0: load at offset 64"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Run(c.p, data)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("verdict %d, error %v, want %d", got, err, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	p := []Inst{{Code: LoadAbs, K: 4}, {Code: JumpEqual, Jt: 1, Jf: 2, K: 0xc000003e}, {Code: Return, K: 0x7fff0000}}
	b := Bytes(p)
	if want := []byte{0x15, 0, 1, 2, 0x3e, 0, 0, 0xc0}; !bytes.Equal(b[8:16], want) {
		t.Errorf("the second instruction is % x, want % x", b[8:16], want)
	}
	got, err := Parse(b)
	if err != nil || len(got) != 3 || got[1] != p[1] {
		t.Errorf("parsed %v, %v", got, err)
	}
	for name, bad := range map[string][]byte{"nothing": nil, "half an instruction": b[:12], "too much": make([]byte, 8*(MaxInsts+1))} {
		if _, err := Parse(bad); err == nil || !strings.Contains(err.Error(), "are not 1 to 4096 instructions of 8 bytes") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestPrint(t *testing.T) {
	p := []Inst{
		{Code: LoadAbs, K: OffsetArch}, {Code: JumpEqual, K: 0xc000003e, Jf: 5},
		{Code: LoadAbs}, {Code: JumpEqual, K: 2, Jf: 3},
		{Code: LoadAbs, K: OffsetArg(1) + 4}, {Code: And, K: 0xf}, {Code: Jump, K: 1}, {Code: 0x99}, {Code: Return, K: 1},
	}
	names := Names{
		Call:    func(nr uint32) string { return map[uint32]string{2: "open"}[nr] },
		Verdict: func(uint32) string { return "" },
	}
	want := `   0  load   arch
   1  if     arch == 0xc000003e goto 2 else 7
   2  load   nr
   3  if     nr == open goto 4 else 7
   4  load   arg1 high
   5  and    0xf
   6  goto   8
   7  ?      code 0x99
   8  return 0x1
`
	if got := Print(p, names); got != want {
		t.Errorf("listing:\n%s\nwant:\n%s", got, want)
	}
}
