package oneshot

import (
	"time"

	"golang.org/x/sys/unix"
)

// ended waits until the child pid has ended, at most for limit, and says whether it has. It does not reap it.
func ended(pid int, limit time.Duration) bool {
	queue, err := unix.Kqueue()
	if err != nil {
		return false
	}
	defer unix.Close(queue)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	for deadline := time.Now().Add(limit); ; {
		left := unix.NsecToTimespec(max(0, time.Until(deadline).Nanoseconds()))
		n, err := unix.Kevent(queue, []unix.Kevent_t{change}, make([]unix.Kevent_t, 1), &left)
		switch err { //nolint:errorlint // bare errnos
		case unix.EINTR:
			continue
		case unix.ESRCH:
			return true // it is a zombie already
		}
		return n > 0
	}
}
