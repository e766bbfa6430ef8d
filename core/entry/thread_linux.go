package entry

import "golang.org/x/sys/unix"

// exact is the kernel's default timer slack, in nanoseconds.
const exact = 50_000

// ExactTimers makes the timers of the calling thread, to which the caller must be locked, as exact as the kernel's default: those of the
// processes before the command are coarse (Slack).
func ExactTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, exact, 0, 0, 0) }
