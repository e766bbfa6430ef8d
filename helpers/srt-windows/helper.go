package main

import (
	"context"
	"runtime"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/run"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/setup"
)

// Descriptors of the plan's process, which travel as inherited handles (wire.HandleVariable).
const (
	requestNumber  = 3 // the request, to be read to its end
	lifetimeNumber = 4 // ends with srt
)

// profileVariable says where the user's profile is.
const profileVariable = "USERPROFILE"

// helper answers srt's questions (wire.Helper).
type helper struct {
	m       run.Machine
	self    string
	profile string // the user's, as the system says; "": it does not
	check   func() ([]checkItem, error)
}

var _ wire.Helper = helper{}

// Describe implements wire.Helper.
func (helper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version, Name: "srt-windows", OS: "windows", Arch: runtime.GOARCH, Build: build,
		Features: []string{"account", "wfp", "acl", "selfcheck"}}, nil
}

// Check implements wire.Helper: what install made, then what a process under the command's token could do.
func (h helper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	r := wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{}}
	status, err := setup.Status(h.m.Sys)
	if err != nil {
		f := problem.Fault(err)
		r.Items = append(r.Items, wire.CheckItem{Name: "installation", State: wire.CheckFail, Detail: f.Error(), Fix: f.Hint})
		return r, nil
	}
	r.Items = append(r.Items, status.Items...)
	items, err := h.check()
	r.Items = append(r.Items, items...)
	if err != nil && len(items) == 0 {
		f := problem.Fault(err)
		r.Items = append(r.Items, wire.CheckItem{Name: "self-check", State: wire.CheckFail, Detail: f.Error(), Fix: f.Hint})
	}
	return r, nil
}

// Prepare implements wire.Helper. Nothing is changed; the plan's program judges again when it runs.
func (h helper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	p, err := run.Plan(h.m, req)
	if err != nil {
		return wire.LaunchPlan{}, problem.Fault(err)
	}
	data, err := wire.Encode(req)
	if err != nil {
		return wire.LaunchPlan{}, err
	}
	// exec runs with the user's rights, so it does not stand where the command's files are.
	plan := wire.LaunchPlan{Version: wire.Version, Argv: []string{h.self, "exec"}, Env: []string{}, Dir: runas.SystemRoot(req.Command.Env),
		Descriptors: []wire.Descriptor{{Number: requestNumber, Kind: wire.FDData, Data: data}, {Number: lifetimeNumber, Kind: wire.FDLifetime}},
		Mode:        "account, filters, access entries, write-restricted token", Warnings: []string{}, Notes: append([]string{}, p.Notes...)}
	for _, name := range []string{"SystemRoot", "SystemDrive", "windir"} {
		if v := runas.Lookup(req.Command.Env, name); v != "" {
			plan.Env = append(plan.Env, name+"="+v)
		}
	}
	if h.profile != "" {
		plan.Env = append(plan.Env, profileVariable+"="+h.profile)
	}
	if len(p.Watch) > 0 || len(req.Files.Protected) > 0 {
		plan.Notes = append(plan.Notes, "protected names that do not exist can be made on Windows; those that the command made are listed when it ends")
	}
	return plan, nil
}
