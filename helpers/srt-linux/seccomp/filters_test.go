package seccomp

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

// load reads a filter from the source tree, so that every architecture is tested on every machine.
func load(t testing.TB, a rules.Arch, o rules.Options) []bpf.Inst {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("filters", a.Name, o.Name()+".bpf"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := bpf.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func each(t *testing.T, f func(t *testing.T, a rules.Arch, o rules.Options, p []bpf.Inst)) {
	for _, a := range rules.Arches {
		for _, o := range rules.Variants() {
			t.Run(a.Name+"/"+o.Name(), func(t *testing.T) { f(t, a, o, load(t, a, o)) })
		}
	}
}

func run(t testing.TB, p []bpf.Inst, d bpf.Data) rules.Verdict {
	t.Helper()
	v, err := bpf.Run(p, d)
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	return rules.Verdict(v)
}

// decide is what the table says.
func decide(rs []rules.Rule, a rules.Arch, d bpf.Data) rules.Verdict {
	return rules.Decide(a, rs, d.Arch, d.Number, d.Args)
}

func TestFiltersDoWhatTheTableSays(t *testing.T) {
	each(t, func(t *testing.T, a rules.Arch, o rules.Options, p []bpf.Inst) {
		rs := rules.For(a, o)
		tried := map[rules.Verdict]int{}
		for nr := range rules.LastReviewed + 50 {
			for _, args := range rules.Samples(rs, nr) {
				d := bpf.Data{Number: uint32(nr), Arch: a.Audit, Args: args}
				got := run(t, p, d)
				if want := decide(rs, a, d); got != want {
					t.Fatalf("call %d (%s) %#x: the filter says %#x, the table %#x", nr, rules.NameOf(a, nr), args, got, want)
				}
				tried[got]++
			}
		}
		if tried[rules.Allow] < 100 || tried[rules.TooNew] < 40 || o.Supervised && tried[rules.Notify] < 30 {
			t.Errorf("too little was tried: %v", tried)
		}
	})
}

func TestOddNumbersAndArchitectures(t *testing.T) {
	const audit386, auditARM = 0x40000003, 0x40000028
	each(t, func(t *testing.T, a rules.Arch, o rules.Options, p []bpf.Inst) {
		x32 := map[bool]rules.Verdict{true: rules.Kill, false: rules.Allow}[a == rules.AMD64] // arm64 has none: the kernel says ENOSYS
		for name, c := range map[string]struct {
			d    bpf.Data
			want rules.Verdict
		}{
			"read":                            {bpf.Data{Number: 0, Arch: a.Audit}, rules.Allow},
			"the last reviewed call":          {bpf.Data{Number: rules.LastReviewed, Arch: a.Audit}, rules.Allow},
			"the first call after it":         {bpf.Data{Number: rules.LastReviewed + 1, Arch: a.Audit}, rules.TooNew},
			"the last number below x32":       {bpf.Data{Number: rules.X32Bit - 1, Arch: a.Audit}, rules.TooNew},
			"x32 read":                        {bpf.Data{Number: rules.X32Bit, Arch: a.Audit}, x32},
			"x32 socket":                      {bpf.Data{Number: rules.X32Bit | 41, Arch: a.Audit}, x32},
			"-2":                              {bpf.Data{Number: 0xfffffffe, Arch: a.Audit}, x32},
			"-1, a call cancelled by ptrace":  {bpf.Data{Number: 0xffffffff, Arch: a.Audit}, rules.Allow},
			"i386 entry":                      {bpf.Data{Number: 1, Arch: audit386}, rules.Kill},
			"i386 entry with a 64-bit number": {bpf.Data{Number: rules.LastReviewed + 1, Arch: audit386}, rules.Kill},
			"32-bit arm entry":                {bpf.Data{Number: 1, Arch: auditARM}, rules.Kill},
			"i386 entry cancelled by ptrace":  {bpf.Data{Number: 0xffffffff, Arch: audit386}, rules.Kill},
			"no architecture":                 {bpf.Data{Number: 1}, rules.Kill},
		} {
			if got := run(t, p, c.d); got != c.want {
				t.Errorf("%s: %#x, want %#x", name, got, c.want)
			}
		}
		for _, other := range rules.Arches {
			if d := (bpf.Data{Arch: other.Audit}); other != a && run(t, p, d) != rules.Kill {
				t.Errorf("the filter of %s takes calls of %s", a.Name, other.Name)
			}
		}
	})
}

func TestSocketsMadeOfRandomArguments(t *testing.T) {
	each(t, func(t *testing.T, a rules.Arch, o rules.Options, p []bpf.Inst) {
		rs := rules.For(a, o)
		c, _ := rules.CallByName("socket")
		nr, _ := c.Number(a)
		r := rand.New(rand.NewPCG(1, uint64(a.Audit)))
		for family := range uint64(1 << 16) {
			d := bpf.Data{Number: uint32(nr), Arch: a.Audit, Args: [6]uint64{family, r.Uint64(), r.Uint64()}}
			got := run(t, p, d)
			if want := decide(rs, a, d); got != want {
				t.Fatalf("%#x: the filter says %#x, the table %#x", d.Args, got, want)
			}
			if known := family == 1 || family == 2 || family == 10 || family == 16; got == rules.Allow && !known {
				t.Fatalf("family %d is allowed", family)
			}
		}
	})
}

// Every program must pass the kernel's own check, also on the architecture that is not this machine's.
func TestFiltersAreWellFormed(t *testing.T) {
	each(t, func(t *testing.T, a rules.Arch, o rules.Options, p []bpf.Inst) {
		if len(p) > 512 {
			t.Errorf("%d instructions", len(p))
		}
		for pc, i := range p {
			switch i.Code {
			case bpf.Return, bpf.LoadAbs, bpf.And:
				if pc == len(p)-1 && i.Code != bpf.Return {
					t.Errorf("the last instruction does not return")
				}
			case bpf.Jump:
				if pc+1+int(i.K) >= len(p) {
					t.Errorf("instruction %d jumps past the end", pc)
				}
			case bpf.JumpEqual, bpf.JumpGT, bpf.JumpGE, bpf.JumpSet:
				if max(pc+1+int(i.Jt), pc+1+int(i.Jf)) >= len(p) {
					t.Errorf("instruction %d jumps past the end", pc)
				}
			default:
				t.Errorf("instruction %d: code %#x", pc, i.Code)
			}
		}
	})
}

// The listings are what a reviewer reads: they must be of these very bytes.
func TestListingsAreOfTheFilters(t *testing.T) {
	each(t, func(t *testing.T, a rules.Arch, o rules.Options, p []bpf.Inst) {
		text, err := os.ReadFile(filepath.Join("filters", a.Name, o.Name()+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if bpf.Print(p, rules.Names(a)) != string(text) {
			t.Error("the listing differs from the program; run scripts/generate")
		}
	})
	for _, a := range rules.Arches {
		files, err := filepath.Glob(filepath.Join("filters", a.Name, "*"))
		if err != nil || len(files) != 2*len(rules.Variants()) {
			t.Errorf("%s: %d files, want a program and a listing for each of %d variants (%v)", a.Name, len(files), len(rules.Variants()), err)
		}
	}
}

func FuzzFilters(f *testing.F) {
	f.Add(uint32(41), uint8(0), uint64(1), uint64(1), uint64(0))
	f.Add(uint32(257), uint8(3), uint64(0), uint64(0), uint64(0o100))
	f.Add(uint32(56), uint8(12), uint64(0x10000000), uint64(0), uint64(0))
	variants := rules.Variants()
	f.Fuzz(func(t *testing.T, nr uint32, which uint8, a0, a1, a2 uint64) {
		o := variants[int(which)%len(variants)]
		for _, a := range rules.Arches {
			d := bpf.Data{Number: nr, Arch: a.Audit, Args: [6]uint64{a0, a1, a2}}
			rs := rules.For(a, o)
			if got, want := run(t, load(t, a, o), d), decide(rs, a, d); got != want {
				t.Errorf("%s %s: %+v: the filter says %#x, the table %#x", a.Name, o.Name(), d, got, want)
			}
		}
	})
}
