package oneshot

import (
	"errors"
	"syscall"
)

const sendFlags = 0 // SO_NOSIGPIPE is set on the socket instead

// ownedBySrt has no counterpart on macOS; the end of the inherited channel ends the child there.
func ownedBySrt(*syscall.SysProcAttr) {}

func streamPair() (ours, theirs int, err error) { return Pair() }

// blockStops: nothing is entered on macOS.
func blockStops() (mask uint64, unblock func(), err error) { return 0, nil, errors.ErrUnsupported }
