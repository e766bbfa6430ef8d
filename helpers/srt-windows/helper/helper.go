// Package helper answers srt's questions on Windows (wire.Helper), whatever carries them. It must never change anything on the machine:
// the plan's program judges again when it runs.
package helper

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
	RequestNumber  = 3 // the request, to be read to its end
	LifetimeNumber = 4 // ends with srt
)

// ProfileVariable says where the user's profile is.
const ProfileVariable = "USERPROFILE"

// Helper answers srt's questions. New makes one for this machine.
type Helper struct {
	M       run.Machine
	Build   string // the commit
	Self    string // srt-windows, which the plan starts
	Profile string // the user's, as the system says; "": it does not
	Prove   func() ([]wire.CheckItem, error)
}

var _ wire.Helper = Helper{}

// Describe implements wire.Helper.
func (h Helper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version, Name: "srt-windows", OS: "windows", Arch: runtime.GOARCH, Build: h.Build,
		Features: []string{"account", "wfp", "acl", "selfcheck"}}, nil
}

// Check implements wire.Helper: what install made, then what a process under the command's token could do.
func (h Helper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	r := wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{}}
	status, err := setup.Status(h.M.Sys)
	if err != nil {
		f := problem.Fault(err)
		r.Items = append(r.Items, wire.CheckItem{Name: "installation", State: wire.CheckFail, Detail: f.Error(), Fix: f.Hint})
		return r, nil
	}
	r.Items = append(r.Items, status.Items...)
	items, err := h.Prove()
	r.Items = append(r.Items, items...)
	if err != nil && len(items) == 0 {
		f := problem.Fault(err)
		r.Items = append(r.Items, wire.CheckItem{Name: "self-check", State: wire.CheckFail, Detail: f.Error(), Fix: f.Hint})
	}
	return r, nil
}

// Prepare implements wire.Helper. Nothing is changed; the plan's program judges again when it runs.
func (h Helper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	p, err := run.Plan(h.M, req)
	if err != nil {
		return wire.LaunchPlan{}, problem.Fault(err)
	}
	data, err := wire.Encode(req)
	if err != nil {
		return wire.LaunchPlan{}, err
	}
	// exec runs with the user's rights, so it does not stand where the command's files are.
	plan := wire.LaunchPlan{Version: wire.Version, Argv: []string{h.Self, "exec"}, Env: []string{}, Dir: runas.SystemRoot(req.Command.Env),
		Descriptors: []wire.Descriptor{{Number: RequestNumber, Kind: wire.FDData, Data: data}, {Number: LifetimeNumber, Kind: wire.FDLifetime}},
		Mode:        "account, filters, access entries, write-restricted token", Warnings: []string{}, Notes: append([]string{}, p.Notes...)}
	for _, name := range []string{"SystemRoot", "SystemDrive", "windir"} {
		if v := runas.Lookup(req.Command.Env, name); v != "" {
			plan.Env = append(plan.Env, name+"="+v)
		}
	}
	if h.Profile != "" {
		plan.Env = append(plan.Env, ProfileVariable+"="+h.Profile)
	}
	if len(p.Watch) > 0 || len(req.Files.Protected) > 0 {
		plan.Notes = append(plan.Notes, "protected names that do not exist can be made on Windows; those that the command made are listed when it ends")
	}
	return plan, nil
}
