package oneshot

import "syscall"

const sendFlags = 0 // SO_NOSIGPIPE is set on the socket instead

// ownedBySrt has no counterpart on macOS; the end of the inherited channel ends the child there.
func ownedBySrt(*syscall.SysProcAttr) {}

func streamPair() (ours, theirs int, err error) { return Pair() }
