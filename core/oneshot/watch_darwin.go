package oneshot

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// watch sees the end of a child: a queue with one event.
type watch struct{ fd int }

func newWatch(*syscall.SysProcAttr) *watch { return &watch{fd: -1} }

func (w *watch) started(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	unix.CloseOnExec(queue)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD)
	change.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(queue, []unix.Kevent_t{change}, nil, nil); err != nil {
		unix.Close(queue) // it has ended already: the ends of its channels say so
		return
	}
	w.fd = queue
}

func (w *watch) close() {
	if w.fd >= 0 {
		unix.Close(w.fd)
	}
}
