// Package plan answers the contract of core/wire for Linux: it turns one LaunchRequest into a bubblewrap command line and the init's
// configuration, and says what holds on this machine. It looks at the file system and changes nothing.
package plan

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/bwrap"
	"github.com/srt-dev/srt/helpers/srt-linux/fileplan"
	"github.com/srt-dev/srt/helpers/srt-linux/initd"
	"github.com/srt-dev/srt/helpers/srt-linux/mounts"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
)

// ConfigFD is where the init finds its Config; oneshot.ControlFD is its channel.
const ConfigFD = 5

// Helper implements wire.Helper but for Check (package check).
type Helper struct {
	Build    string    // the commit that it was built from
	Self     string    // path of the srt-linux binary that becomes the init
	mayMount *sync.Map // path of a bubblewrap → func() (bool, error), whether the init may mount then; a session asks once
}

// New gives the helper for this machine: self is the srt-linux binary that becomes the init.
func New(build, self string) Helper { return Helper{Build: build, Self: self, mayMount: new(sync.Map)} }

// InitMayMount says who makes the mounts when this bubblewrap is used: the init, or bubblewrap itself. The error is a *wire.Fault.
func (h Helper) InitMayMount(bwrap string) (bool, error) {
	ask, _ := h.mayMount.LoadOrStore(bwrap, sync.OnceValues(func() (bool, error) { return probe.InitMayMount(bwrap, h.Self) }))
	return ask.(func() (bool, error))()
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
	byInit, err := h.InitMayMount(path)
	if err != nil {
		return fail(err)
	}
	cfg, plan, err := h.Configure(req)
	if err != nil {
		return fail(err)
	}
	if cfg.SharedProc, err = h.sharedProc(path, req.Process.WeakerNested && byInit); err != nil {
		return fail(err)
	}
	plan.Argv = entry.Argv(path, h.Self, "init", strconv.Itoa(ConfigFD), strconv.Itoa(oneshot.ControlFD))
	if cfg.SharedProc {
		plan.Argv = entry.KeepProc(plan.Argv)
		plan.Mode, plan.Warnings = "mounts by the init, not supervised", []string{sharedProcNote}
	}
	if !byInit {
		if err := h.mountByBwrap(path, cfg, &plan); err != nil {
			return fail(err)
		}
	}
	data, err := wire.Encode(cfg)
	if err != nil {
		return fail(err)
	}
	plan.Descriptors = append(plan.Descriptors,
		wire.Descriptor{Number: oneshot.ControlFD, Kind: wire.FDControl}, wire.Descriptor{Number: ConfigFD, Kind: wire.FDData, Data: data})
	for _, fd := range req.Command.PassFDs {
		plan.Descriptors = append(plan.Descriptors, wire.Descriptor{Number: fd + wire.PassOffset, Kind: wire.FDPass})
	}
	return plan, nil
}

// sharedProcNote is what srt tells the user about a sandbox in the /proc of a container.
const sharedProcNote = "the kernel allows no fresh /proc in this container: the command sees the names and command lines of all its processes, " +
	"unix sockets are refused, and missing protected paths are only checked after the run"

// sharedProc says whether the sandbox has to do with the /proc that is there, because the kernel allows no fresh one. That costs the
// supervisor, which finds its callers there by numbers of another PID namespace, so the user must have asked for a weaker sandbox.
func (h Helper) sharedProc(bwrap string, weaker bool) (bool, error) {
	part := entry.CoveredProc()
	if part == "" && !weaker || probe.FreshProc(bwrap, h.Self) {
		return false, nil
	}
	if !weaker {
		return false, NoFreshProc(part)
	}
	return true, nil
}

// NoFreshProc is the fault of a machine whose kernel lets nobody mount a /proc that would show more than the one that is there, because
// this part of it is covered.
func NoFreshProc(part string) *wire.Fault {
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "start the sandbox",
		Detail: fmt.Sprintf("the kernel allows no fresh /proc, because %s of this one is covered, as containers do", part),
		Hint: "let the container show all of /proc (docker run --security-opt systempaths=unconfined, podman run --security-opt unmask=ALL), " +
			"or set enableWeakerNestedSandbox: " + sharedProcNote}
}

// mountByBwrap changes configuration and plan so that bubblewrap, at path, makes the mounts.
func (h Helper) mountByBwrap(path string, cfg *initd.Config, plan *wire.LaunchPlan) (err error) {
	cfg.ByBwrap = true
	kernel, err := mounts.KernelFS(&cfg.View)
	if err != nil {
		return err
	}
	if plan.Argv, plan.Descriptors, err = bwrap.ArgvMounts(path, h.Self, ConfigFD, oneshot.ControlFD, &cfg.View, kernel); err != nil {
		return err
	}
	plan.Mode, plan.Warnings = "mounts by bubblewrap, supervised", append([]string{bwrap.MountsNote}, bwrap.CannotMake(&cfg.View)...)
	cfg.Identities, err = mounts.Identify(&cfg.View)
	return err
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
			Explain: req.Explain, Audit: req.Audit, Uid: os.Getuid(), Gid: os.Getgid(), Self: h.Self},
		wire.LaunchPlan{Version: wire.Version, Argv: req.Command.Argv, Env: entry.Env, Dir: "/", Descriptors: []wire.Descriptor{},
			NewSession: !req.Command.Terminal, Mode: "mounts by the init, supervised", Warnings: []string{}, Notes: notes}, nil
}
