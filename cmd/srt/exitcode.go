package main

import (
	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/wire"
)

// Exit statuses of srt, as env(1) and timeout(1) have them. A command's own status is passed on.
const (
	exitDoctor   = 1   // srt doctor found a protection that does not hold
	exitFailed   = 125 // srt itself failed, nothing was run or it was ended
	exitNotExec  = 126 // the command cannot be executed
	exitNotFound = 127 // the command was not found
	exitSignal   = 128 // plus the number of the signal that ended the command
)

// exitStatus maps the end of a run.
func exitStatus(out launch.Outcome) int {
	switch {
	case out.Fault != nil:
		return faultStatus(out.Fault)
	case out.Signal != 0:
		return exitSignal + out.Signal
	case !out.Started:
		return exitFailed
	case out.Exit.Signal != 0:
		return exitSignal + out.Exit.Signal
	}
	return out.Exit.Code
}

func faultStatus(f *wire.Fault) int {
	switch f.Code {
	case wire.CodeNotFound:
		return exitNotFound
	case wire.CodeNotExec:
		return exitNotExec
	}
	return exitFailed
}
