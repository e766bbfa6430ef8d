// Package plan answers the contract of core/wire for Linux: it turns one LaunchRequest into a bubblewrap command line and the init's
// configuration, and says what holds on this machine. It looks at the file system and changes nothing.
package plan

import (
	"context"
	"os"
	"runtime"
	"strconv"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/bwrap"
	"github.com/srt-dev/srt/helpers/srt-linux/fileplan"
	"github.com/srt-dev/srt/helpers/srt-linux/initd"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
)

// ConfigFD is where the init finds its Config; oneshot.ControlFD is its channel.
const ConfigFD = 5

// Helper implements wire.Helper but for Check (package check).
type Helper struct {
	Build string // the commit that it was built from
	Self  string // path of the srt-linux binary that becomes the init
	// ByBwrap: bubblewrap makes the mounts, because the init may not here (probe.InitMayMount).
	ByBwrap bool
}

// New gives the helper for this machine: self is the srt-linux binary that becomes the init.
func New(build, self string) Helper {
	return Helper{Build: build, Self: self, ByBwrap: !probe.InitMayMount(self)}
}

// Describe implements wire.Helper.
func (h Helper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version, Name: "srt-linux", OS: runtime.GOOS, Arch: runtime.GOARCH, Build: h.Build, Features: features}, nil
}

// features are what this helper enforces, for people and for embedders.
var features = []string{"file mounts by descriptor", "missing names", "unix sockets by path", "system call filter", "own network namespace", "listeners handed out"}

// Prepare turns one request into the bwrap command line and the init's configuration.
func (h Helper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	fail := func(err error) (wire.LaunchPlan, error) { return wire.LaunchPlan{}, err }
	path, err := entry.Bwrap(req.Host.BwrapPath)
	if err != nil {
		return fail(err)
	}
	cfg, plan, err := h.Configure(req)
	if err != nil {
		return fail(err)
	}
	data, err := wire.Encode(cfg)
	if err != nil {
		return fail(err)
	}
	plan.Argv = entry.Argv(path, h.Self, "init", strconv.Itoa(ConfigFD), strconv.Itoa(oneshot.ControlFD))
	if h.ByBwrap {
		if plan.Argv, plan.Descriptors, err = bwrap.ArgvMounts(path, h.Self, ConfigFD, oneshot.ControlFD, &cfg.View); err != nil {
			return fail(err)
		}
		plan.Mode, plan.Warnings = "mounts by bubblewrap, supervised", []string{bwrap.MountsNote}
	}
	plan.Descriptors = append(plan.Descriptors,
		wire.Descriptor{Number: oneshot.ControlFD, Kind: wire.FDControl}, wire.Descriptor{Number: ConfigFD, Kind: wire.FDData, Data: data})
	for _, fd := range req.Command.PassFDs {
		plan.Descriptors = append(plan.Descriptors, wire.Descriptor{Number: fd + wire.PassOffset, Kind: wire.FDPass})
	}
	return plan, nil
}

// Configure turns one request into what the init has to do, and a plan that says so but for the way in: its command line is the command's
// own, and it has no descriptors.
func (h Helper) Configure(req wire.LaunchRequest) (*initd.Config, wire.LaunchPlan, error) {
	fail := func(err error) (*initd.Config, wire.LaunchPlan, error) { return nil, wire.LaunchPlan{}, err }
	if len(req.Command.Argv) == 0 {
		return fail(&wire.Fault{Code: wire.CodeMalformed, Op: "plan", Detail: "no command"})
	}
	v, notes, err := fileplan.Plan(req.Files, fileplan.Options{Dir: req.Command.Dir, Home: req.Host.Home, Debug: req.Host.Debug})
	if err != nil {
		return fail(err)
	}
	return &initd.Config{Version: wire.Version, CommandID: req.CommandID, View: *v, Command: req.Command, Process: req.Process, Network: req.Network,
			Explain: req.Explain, Audit: req.Audit, Uid: os.Getuid(), Gid: os.Getgid(), Self: h.Self, ByBwrap: h.ByBwrap},
		wire.LaunchPlan{Version: wire.Version, Argv: req.Command.Argv, Env: entry.Env, Dir: "/", Descriptors: []wire.Descriptor{},
			NewSession: !req.Command.Terminal, Mode: "mounts by the init, supervised", Warnings: []string{}, Notes: notes}, nil
}
