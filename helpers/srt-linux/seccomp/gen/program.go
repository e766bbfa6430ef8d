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

// program builds one filter: the front for what libseccomp cannot say, then libseccomp's program.
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
	var ours []rules.Rule
	for _, r := range rules.For(a, o) {
		if r.InFront() {
			ours = append(ours, r)
			continue
		}
		if err := addRule(f, arches[a.Name], r); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Call, err)
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
	return append(rules.Front(a, ours), body...), nil
}

// addRule hands one rule to libseccomp. AddRule takes the number that the call has on the machine that generates and translates it by
// name: a number of the other architecture would block another call.
func addRule(f *seccomp.ScmpFilter, arch seccomp.ScmpArch, r rules.Rule) error {
	nr, err := seccomp.GetSyscallFromNameByArch(r.Call, arch)
	if err != nil {
		return err
	}
	if int(nr) != r.Number {
		return fmt.Errorf("the table says number %d, libseccomp %d", r.Number, nr)
	}
	native, err := seccomp.GetSyscallFromName(r.Call)
	if err != nil {
		return err
	}
	act, err := action(r.Verdict)
	if err != nil {
		return err
	}
	if len(r.When) == 0 {
		return f.AddRule(native, act)
	}
	var conds []seccomp.ScmpCondition
	for _, m := range r.When {
		c, err := seccomp.MakeCondition(uint(m.Arg), seccomp.CompareMaskedEqual, uint64(m.Mask), uint64(m.Value))
		if err != nil {
			return err
		}
		conds = append(conds, c)
	}
	return f.AddRuleConditional(native, act, conds)
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
