//go:build cgo && libseccomp

package main

import (
	"fmt"
	"os"

	"github.com/seccomp/libseccomp-golang"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

// apiLevel is set by hand, so that the output does not depend on the kernel that generates; 6 has listeners and process kills.
const apiLevel = 6

var arches = map[string]seccomp.ScmpArch{"amd64": seccomp.ArchAMD64, "arm64": seccomp.ArchARM64}

// program builds one filter: a front of our own for calls that libseccomp may be too old to know, then libseccomp's program.
func program(a rules.Arch, o rules.Options) ([]bpf.Inst, error) {
	if err := seccomp.SetAPI(apiLevel); err != nil {
		return nil, fmt.Errorf("API level %d: %w", apiLevel, err)
	}
	f, err := seccomp.NewFilter(seccomp.ActAllow)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	native, err := seccomp.GetNativeArch()
	if err != nil {
		return nil, err
	}
	if arch := arches[a.Name]; arch != native {
		if err := f.AddArch(arch); err != nil {
			return nil, err
		}
		if err := f.RemoveArch(native); err != nil {
			return nil, err
		}
	}
	if err := f.SetBadArchAction(seccomp.ActKillProcess); err != nil {
		return nil, err
	}
	var newer []rules.Rule
	for _, r := range rules.For(a, o) {
		known, err := addRule(f, arches[a.Name], r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Call, err)
		}
		if !known {
			newer = append(newer, r)
		}
	}
	raw, err := export(f)
	if err != nil {
		return nil, err
	}
	body, err := bpf.Parse(raw)
	if err != nil {
		return nil, err
	}
	head, err := front(a, newer)
	if err != nil {
		return nil, err
	}
	return append(head, body...), nil
}

// addRule hands one rule to libseccomp; known is false when the library is older than the call. AddRule takes numbers of the
// machine that generates and translates them by name: the number of the other architecture given here would block another call.
func addRule(f *seccomp.ScmpFilter, arch seccomp.ScmpArch, r rules.Rule) (known bool, err error) {
	nr, err := seccomp.GetSyscallFromNameByArch(r.Call, arch)
	if err != nil {
		return false, nil
	}
	if int(nr) != r.Number {
		return false, fmt.Errorf("the table says number %d, libseccomp %d", r.Number, nr)
	}
	native, err := seccomp.GetSyscallFromName(r.Call)
	if err != nil {
		return false, err
	}
	act, err := action(r.Verdict)
	if err != nil {
		return false, err
	}
	for _, all := range r.Alternatives {
		var conds []seccomp.ScmpCondition
		for _, c := range all {
			cond, err := condition(c)
			if err != nil {
				return false, err
			}
			conds = append(conds, cond)
		}
		if len(conds) == 0 {
			err = f.AddRule(native, act)
		} else {
			err = f.AddRuleConditional(native, act, conds)
		}
		if err != nil {
			return false, fmt.Errorf("%v: %w", all, err)
		}
	}
	return true, nil
}

// export goes through a file: the call that fills memory needs libseccomp 2.6.
func export(f *seccomp.ScmpFilter) ([]byte, error) {
	tmp, err := os.CreateTemp("", "filter")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := f.ExportBPF(tmp); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return os.ReadFile(tmp.Name())
}

func action(v rules.Verdict) (seccomp.ScmpAction, error) {
	if v == rules.Notify {
		return seccomp.ActNotify, nil
	}
	if e, ok := v.Errno(); ok {
		return seccomp.ActErrno.SetReturnCode(int16(e)), nil
	}
	return 0, fmt.Errorf("no action for verdict %#x", uint32(v))
}

func condition(c rules.Compare) (seccomp.ScmpCondition, error) {
	if c.Above {
		return seccomp.MakeCondition(uint(c.Arg), seccomp.CompareGreater, uint64(c.Value))
	}
	return seccomp.MakeCondition(uint(c.Arg), seccomp.CompareMaskedEqual, uint64(c.Mask), uint64(c.Value))
}

// front refuses, on the filter's own architecture, every number above the reviewed ones and the calls in newer, and falls through
// to the program behind it otherwise: for foreign architectures, x32 numbers and -1 that program decides.
func front(a rules.Arch, newer []rules.Rule) ([]bpf.Inst, error) {
	returns := []uint32{uint32(rules.TooNew)}
	tests := []bpf.Inst{
		{Code: bpf.JumpGE, K: rules.X32Bit},       // → body
		{Code: bpf.JumpGT, K: rules.LastReviewed}, // → returns[0]
	}
	for _, r := range newer {
		if len(r.Alternatives) != 1 || len(r.Alternatives[0]) != 0 {
			return nil, fmt.Errorf("%s: a call that libseccomp does not know cannot have conditions", r.Call)
		}
		tests = append(tests, bpf.Inst{Code: bpf.JumpEqual, K: uint32(r.Number)})
		returns = append(returns, uint32(r.Verdict))
	}
	// arch? | load nr | tests | goto body | returns | body
	p := []bpf.Inst{
		{Code: bpf.LoadAbs, K: bpf.OffsetArch},
		{Code: bpf.JumpEqual, K: a.Audit, Jf: uint8(len(tests) + 2 + len(returns))},
		{Code: bpf.LoadAbs, K: bpf.OffsetNumber},
	}
	for i, t := range tests {
		left := len(tests) - 1 - i // tests behind this one
		if i == 0 {
			t.Jt = uint8(left + 1 + len(returns))
		} else {
			t.Jt = uint8(left + 1 + i - 1)
		}
		p = append(p, t)
	}
	p = append(p, bpf.Inst{Code: bpf.Jump, K: uint32(len(returns))})
	for _, v := range returns {
		p = append(p, bpf.Inst{Code: bpf.Return, K: v})
	}
	return p, nil
}
