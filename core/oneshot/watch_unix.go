//go:build linux || darwin

package oneshot

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// wait waits until the child has ended, at most for limit. It does not reap it.
func (w *watch) wait(limit time.Duration) {
	if w.fd < 0 {
		return
	}
	for deadline := time.Now().Add(limit); ; {
		left := max(0, int(time.Until(deadline).Milliseconds()))
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, left); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
