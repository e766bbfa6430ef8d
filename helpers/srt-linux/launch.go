package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
	"golang.org/x/sys/unix"
)

// launch answers the one request on RequestFD and becomes bwrap. Whatever goes wrong is answered as a Fault.
func launch() int {
	conn := os.NewFile(oneshot.RequestFD, "request")
	unix.CloseOnExec(oneshot.RequestFD)
	var req wire.LaunchRequest
	err := oneshot.ReadRequest(conn, &req)
	var answer wire.LaunchPlan
	var h plan.Helper
	if err == nil {
		h, err = helper()
	}
	if err == nil {
		answer, err = h.Prepare(context.Background(), req)
	}
	var config *os.File
	if err == nil {
		config, err = configuration(answer.Descriptors)
	}
	if err != nil {
		_ = oneshot.WriteAnswer(conn, nil, err)
		return statusFailed
	}
	for n := range answer.Descriptors { // srt has no use for the init's configuration
		answer.Descriptors[n].Data = nil
	}
	if err := oneshot.WriteAnswer(conn, &answer, nil); err != nil {
		return statusFailed
	}
	err = become(&answer, config)
	fmt.Fprintf(os.Stderr, "srt: error: start bwrap: %v\n", err) // cannot be answered any more
	return statusFailed
}

func helper() (plan.Helper, error) {
	self, err := os.Executable()
	return plan.Helper{Build: commit, Self: self}, err
}

// configuration puts the one data descriptor of the plan into an anonymous file.
func configuration(ds []wire.Descriptor) (*os.File, error) {
	for _, d := range ds {
		if d.Kind == wire.FDData {
			return plan.MemFile(d.Data)
		}
	}
	return nil, errors.New("the plan carries no configuration (a bug, please report)")
}

// become replaces this process by bwrap. The signals that a terminal or a caller sends are srt's to forward: bwrap must not die of
// them before the command had its chance.
func become(p *wire.LaunchPlan, config *os.File) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	if err := unix.Dup3(int(config.Fd()), plan.ConfigFD, 0); err != nil {
		return err
	}
	for _, d := range p.Descriptors {
		if _, err := unix.FcntlInt(uintptr(d.Number), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("descriptor %s: %w", strconv.Itoa(d.Number), err)
		}
	}
	if err := unix.Chdir(p.Dir); err != nil {
		return err
	}
	return syscall.Exec(p.Argv[0], p.Argv, p.Env)
}
