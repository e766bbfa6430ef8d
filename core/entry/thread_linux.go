package entry

import "golang.org/x/sys/unix"

// Exact is the kernel's default timer slack, in nanoseconds: a thread of the processes before the command whose timers must not be coarse
// (Slack) sets it.
const Exact = 50_000

// Timers gives the calling thread, to which the caller must be locked, and what it starts, a timer slack in nanoseconds. was is what it
// had; restore puts that back here. It cannot fail: the kernel takes every number and limits it itself.
func Timers(ns int) (was int, restore func()) {
	was, _ = unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	set := func(ns int) { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0) }
	set(ns)
	return was, func() { set(was) }
}
