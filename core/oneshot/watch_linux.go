package oneshot

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// watch sees the end of a child: the pidfd that the kernel made together with it.
type watch struct{ fd int }

func newWatch(attr *syscall.SysProcAttr) *watch {
	w := &watch{fd: -1}
	attr.PidFD = &w.fd // closed on exec, as every descriptor of the runtime
	return w
}

func (w *watch) started(int) {}

func (w *watch) close() {
	if w.fd >= 0 {
		unix.Close(w.fd)
	}
}
