package main

import (
	"context"
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
	if err == nil {
		err = placeData(answer.Descriptors)
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
	err = become(&answer)
	fmt.Fprintf(os.Stderr, "srt: error: start bwrap: %v\n", err) // cannot be answered any more
	return statusFailed
}

func helper() (plan.Helper, error) {
	self, err := os.Executable()
	if err != nil {
		return plan.Helper{}, err
	}
	return plan.New(commit, self), nil
}

// placeData puts the data descriptors of the plan into anonymous files under their numbers, close-on-exec for now. Each file is closed
// under the number that it was opened with before the next is opened, so that none can stand where another belongs.
func placeData(ds []wire.Descriptor) error {
	for _, d := range ds {
		if d.Kind != wire.FDData {
			continue
		}
		f, err := oneshot.SealedFile(d.Data)
		if err != nil {
			return err
		}
		if int(f.Fd()) == d.Number {
			kept = append(kept, f)
			continue
		}
		if err := unix.Dup3(int(f.Fd()), d.Number, unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("descriptor %d: %w", d.Number, err)
		}
		f.Close()
	}
	return nil
}

// kept are files that stand under their number already; a finalizer would close them.
var kept []*os.File

// become replaces this process by bwrap. The signals that a terminal or a caller sends are srt's to forward: bwrap must not die of
// them before the command had its chance.
func become(p *wire.LaunchPlan) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
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
