package launch

import (
	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/pidfd"
)

// pidfdTarget is a main process that srt did not start itself.
type pidfdTarget struct{ *pidfd.Process }

func (t pidfdTarget) leader() int { return t.Pid() }

func (t pidfdTarget) signalMain(sig unix.Signal) { _ = t.Signal(sig) }

func (t pidfdTarget) signalGroup(sig unix.Signal) { _ = t.SignalGroup(sig) }

func (t pidfdTarget) close() { t.Close() }
