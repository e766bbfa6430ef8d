package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/bwrap"
	"github.com/srt-dev/srt/helpers/srt-linux/initd"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// configFD is where the init finds its Config; oneshot.ControlFD is its channel.
const configFD = 5

// wrapperEnv is the environment of bwrap and the init: nothing of the caller's, whose LD_PRELOAD and the like must not reach them.
var wrapperEnv = []string{"PATH=/usr/bin:/bin", "LANG=C"}

type helper struct{}

func (helper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version, Name: "srt-linux", OS: runtime.GOOS, Arch: runtime.GOARCH, Features: []string{}}, nil
}

func (helper) Check(_ context.Context, req wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{}, errors.ErrUnsupported
}

// Prepare turns one request into the bwrap command line and the init's configuration.
func (helper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	fail := func(err error) (wire.LaunchPlan, error) { return wire.LaunchPlan{}, err }
	if len(req.Command.Argv) == 0 {
		return fail(&wire.Fault{Code: wire.CodeMalformed, Op: "plan", Detail: "no command"})
	}
	path, err := probe.Bwrap(req.Host.BwrapPath)
	if err != nil {
		return fail(err)
	}
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	v, notes, err := planFiles(req)
	if err != nil {
		return fail(err)
	}
	cfg := initd.Config{Version: wire.Version, CommandID: req.CommandID, View: *v, Command: req.Command, Process: req.Process, Network: req.Network,
		Explain: req.Explain, Uid: os.Getuid(), Gid: os.Getgid(), Self: self, Supervised: false}
	data, err := wire.Encode(&cfg)
	if err != nil {
		return fail(err)
	}
	plan := wire.LaunchPlan{Version: wire.Version, Argv: bwrap.Argv(path, self, configFD, oneshot.ControlFD), Env: wrapperEnv, Dir: "/",
		Descriptors: []wire.Descriptor{{Number: oneshot.ControlFD, Kind: wire.FDControl}, {Number: configFD, Kind: wire.FDData, Data: data}},
		NewSession:  !req.Command.Terminal, Mode: "mounts by the init", Warnings: []string{}, Notes: notes}
	for _, fd := range req.Command.PassFDs {
		plan.Descriptors = append(plan.Descriptors, wire.Descriptor{Number: fd + wire.PassOffset, Kind: wire.FDPass})
	}
	return plan, nil
}

func planFiles(req wire.LaunchRequest) (*view.View, []string, error) {
	v := &view.View{Cwd: req.Command.Dir, Unrestricted: req.Files.Disabled}
	for _, w := range req.Files.AllowWrite {
		v.Write = append(v.Write, view.Target{Path: w.Path, Rule: w.Rule, Dir: true})
	}
	for _, w := range req.Files.DenyRead {
		v.Hide = append(v.Hide, view.Target{Path: w.Path, Rule: w.Rule, Dir: true})
	}
	for _, w := range req.Files.AllowRead {
		fi, _ := os.Lstat(w.Path)
		v.Reopen = append(v.Reopen, view.Target{Path: w.Path, Rule: w.Rule, Dir: true, Link: fi.Mode()&os.ModeSymlink != 0})
	}
	return v, []string{}, nil
}

// launch answers the one request on RequestFD and becomes bwrap. Whatever goes wrong is answered as a Fault.
func launch() int {
	conn := os.NewFile(oneshot.RequestFD, "request")
	unix.CloseOnExec(oneshot.RequestFD)
	var req wire.LaunchRequest
	err := oneshot.ReadRequest(conn, &req)
	var plan wire.LaunchPlan
	if err == nil {
		plan, err = helper{}.Prepare(context.Background(), req)
	}
	var config int
	if err == nil {
		config, err = memfile(plan.Descriptors)
	}
	if err != nil {
		_ = oneshot.WriteAnswer(conn, nil, err)
		return statusFailed
	}
	for n := range plan.Descriptors { // srt has no use for the init's configuration
		plan.Descriptors[n].Data = nil
	}
	if err := oneshot.WriteAnswer(conn, &plan, nil); err != nil {
		return statusFailed
	}
	err = become(&plan, config)
	fmt.Fprintf(os.Stderr, "srt: error: start bwrap: %v\n", err) // cannot be answered any more
	return statusFailed
}

// memfile puts the one data descriptor of the plan into an anonymous file that nobody can change any more.
func memfile(ds []wire.Descriptor) (int, error) {
	for _, d := range ds {
		if d.Kind != wire.FDData {
			continue
		}
		fd, err := unix.MemfdCreate("srt-config", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			return -1, fmt.Errorf("memfd_create: %w", err)
		}
		for b := d.Data; len(b) > 0; {
			n, err := unix.Write(fd, b)
			if err != nil {
				return -1, fmt.Errorf("write the configuration: %w", err)
			}
			b = b[n:]
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK); err != nil {
			return -1, fmt.Errorf("seal the configuration: %w", err)
		}
		_, err = unix.Seek(fd, 0, unix.SEEK_SET)
		return fd, err
	}
	return -1, errors.New("the plan carries no configuration (a bug, please report)")
}

// become replaces this process by bwrap. The signals that a terminal or a caller sends are srt's to forward: bwrap must not die of
// them before the command had its chance.
func become(plan *wire.LaunchPlan, config int) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	if err := unix.Dup3(config, configFD, 0); err != nil {
		return err
	}
	for _, d := range plan.Descriptors {
		if _, err := unix.FcntlInt(uintptr(d.Number), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("descriptor %s: %w", strconv.Itoa(d.Number), err)
		}
	}
	if err := unix.Chdir(plan.Dir); err != nil {
		return err
	}
	return syscall.Exec(plan.Argv[0], plan.Argv, plan.Env)
}
