package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/denylog"
)

// logProgram prints the system's log. Part of the sealed system volume.
const logProgram = "/usr/bin/log"

// settle is how long after its banner log(1) may still miss events; measured by others: under 50 ms.
const settle = 50 * time.Millisecond

// watch reads the log until srt closes the control channel. When log(1) ends, denials are still enforced, only not reported any more.
func watch() int {
	syscall.CloseOnExec(oneshot.RequestFD)
	syscall.CloseOnExec(oneshot.ControlFD)
	conn := os.NewFile(oneshot.RequestFD, "request")
	if conn == nil {
		return statusFailed
	}
	defer conn.Close()
	var req wire.WatchRequest
	stream, err := (*logStream)(nil), oneshot.ReadRequest(conn, &req)
	if err == nil {
		stream, err = startLog(req.SessionID)
	}
	if err := oneshot.WriteAnswer(conn, describe(), err); err != nil || stream == nil {
		return statusFailed
	}
	control := oneshot.NewChannel(oneshot.ControlFD, wire.MaxControlMessage)
	go func() { // srt says nothing on the channel: it only closes it
		var nothing wire.ControlMessage
		_, _ = control.Recv(&nothing)
		_ = stream.cmd.Process.Kill()
	}()
	err = stream.each(func(line []byte) error {
		v, ok := denylog.Parse(line, req.SessionID)
		if !ok {
			return nil
		}
		return control.Send(wire.ControlMessage{Version: wire.Version, Kind: wire.KindViolation, Violation: &v})
	})
	_ = stream.cmd.Process.Kill()
	_ = stream.cmd.Wait()
	if err != nil {
		return statusFailed
	}
	return 0
}

// logStream is a running "log stream".
type logStream struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// startLog starts log(1) and waits until it listens.
func startLog(sessionID string) (*logStream, error) {
	predicate, err := denylog.Predicate(sessionID)
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "watch", Detail: err.Error()}
	}
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "read the system's log", Path: logProgram, Detail: err.Error(), Hint: "denials are enforced all the same, but not listed"}
	}
	cmd := exec.Command(logProgram, "stream", "--style", "ndjson", "--predicate", predicate)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // no signal from the keyboard
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fault(err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fault(err)
	}
	s := &logStream{cmd, bufio.NewReaderSize(pipe, denylog.MaxLine)}
	if _, err := s.out.ReadString('\n'); err != nil { // the banner
		_ = cmd.Wait()
		return nil, fault(fmt.Errorf("it ended at once: %w", err))
	}
	time.Sleep(settle)
	return s, nil
}

// each hands every line to f; lines that are too long are passed over.
func (s *logStream) each(f func(line []byte) error) error {
	for {
		line, err := s.out.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil
			_, err = s.out.ReadSlice('\n')
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
		if len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return err
		}
	}
}
