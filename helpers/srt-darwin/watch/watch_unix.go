//go:build linux || darwin

// Package watch is the verb watch: it reads the system's log with log(1) and tells srt what the profiles of one session denied. It must
// never tell of a denial that the kernel did not log for that session, and leaves no log(1) behind.
package watch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/denylog"
)

// LogProgram prints the system's log. Part of the sealed system volume.
const LogProgram = "/usr/bin/log"

const (
	// settle is how long after its banner log(1) may still miss events; measured by others: under 50 ms.
	settle = 50 * time.Millisecond
	// restarts bounds how often log(1) is started again when it ends by itself, as it does when logd is restarted.
	restarts = 5
)

// Serve answers the request on conn and reports denials on control until srt closes that, or until log(1) does not stay. Then denials
// are still enforced, only not reported any more.
func Serve(conn *os.File, control *oneshot.Channel, who wire.Description, program string) error {
	var req wire.WatchRequest
	err := oneshot.ReadRequest(conn, &req)
	r := &reader{program: program, session: req.SessionID, control: control}
	if err == nil {
		err = r.start()
	}
	told := oneshot.WriteAnswer(conn, who, err)
	conn.Close()
	if err != nil || told != nil {
		r.stop()
		return errors.Join(err, told)
	}
	go func() { // srt says nothing on the channel: it only closes it
		var nothing wire.ControlMessage
		_, _ = control.Recv(&nothing)
		r.stop()
	}()
	for range restarts {
		if err = r.report(); err == nil {
			err = r.start()
		}
		if r.stopped() {
			return nil
		}
		if err != nil {
			break
		}
	}
	r.stop()
	r.reap()
	return errors.Join(err, errors.New("log(1) does not stay"))
}

// reader is a log(1) that can be started again.
type reader struct {
	program, session string
	control          *oneshot.Channel
	out              *bufio.Reader // of the one that runs

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended bool // srt has closed the channel
}

// errEnded says that srt wants no more.
var errEnded = errors.New("the channel is closed")

// start starts log(1) and waits until it listens.
func (r *reader) start() error {
	predicate, err := denylog.Predicate(r.session)
	if err != nil {
		return &wire.Fault{Code: wire.CodeMalformed, Op: "watch", Detail: err.Error()}
	}
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "read the system's log", Path: r.program, Detail: err.Error(), Hint: "denials are enforced all the same, but not listed"}
	}
	cmd := exec.Command(r.program, "stream", "--style", "ndjson", "--predicate", predicate) //nolint:gosec // log(1)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // no signal from the keyboard
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return fault(err)
	}
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return errEnded
	}
	err = cmd.Start()
	if err == nil {
		r.cmd = cmd
	}
	r.mu.Unlock()
	if err != nil {
		return fault(err)
	}
	r.out = bufio.NewReaderSize(pipe, denylog.MaxLine)
	if _, err := r.out.ReadString('\n'); err != nil { // the banner
		r.reap()
		return fault(fmt.Errorf("it ended at once: %w", err))
	}
	time.Sleep(settle)
	return nil
}

// report hands on what log(1) prints until it ends. An error means that nobody listens any more.
func (r *reader) report() error {
	defer r.reap()
	for {
		line, err := r.out.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // too long to be one of ours
			line = nil
			_, err = r.out.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		if v, ok := denylog.Parse(line, r.session); ok {
			if err := r.control.Send(wire.ControlMessage{Version: wire.Version, Kind: wire.KindViolation, Violation: &v}); err != nil {
				return err
			}
		}
	}
}

// stop ends log(1) and lets no other start.
func (r *reader) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.cmd != nil {
		_ = r.cmd.Process.Kill() // it may have ended
	}
}

func (r *reader) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// reap frees what is left of log(1).
func (r *reader) reap() {
	r.mu.Lock()
	cmd := r.cmd
	r.cmd = nil
	r.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // how it ended says nothing
	}
}
