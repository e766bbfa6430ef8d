package oneshot

import (
	"errors"
	"syscall"

	"github.com/srt-dev/srt/core/entry"
)

const sendFlags = 0 // SO_NOSIGPIPE is set on the socket instead

// ownedBySrt has no counterpart on macOS; the end of the inherited channel ends the child there.
func ownedBySrt(*syscall.SysProcAttr) {}

func streamPair() (ours, theirs int, err error) { return Pair() }

// chainThread: nothing is entered on macOS.
func chainThread() (was entry.Thread, restore func(), err error) {
	return entry.Thread{}, nil, errors.ErrUnsupported
}
