//go:build linux || darwin

package oneshot

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// maxFDs is what the kernel sends at most with one message (SCM_MAX_FD).
const maxFDs = 253

// Shutdown ends the conversation: the peer sees the end, and a Recv that waits here returns. Close must still be called.
func (c *Channel) Shutdown() { _ = unix.Shutdown(c.fd, unix.SHUT_RDWR) }

// Close frees the descriptor. No Recv or Send may be running: Shutdown first, then wait for them.
func (c *Channel) Close() error { return unix.Close(c.fd) }

// CloseAll closes descriptors that came out of a channel.
func CloseAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// retry runs f again while a signal interrupts it, and waits for readiness when the descriptor does not block.
func retry(fd int, events int16, f func() error) error {
	for {
		err := f()
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1); err != nil && !errors.Is(err, unix.EINTR) {
				return err
			}
		default:
			return err
		}
	}
}

// parseRights takes the descriptors out of a control message.
func parseRights(oob []byte, flags int) ([]int, error) {
	var fds []int
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "read descriptors", Detail: err.Error()}
	}
	for i := range msgs {
		if got, err := unix.ParseUnixRights(&msgs[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	if flags&unix.MSG_CTRUNC != 0 {
		return fds, &wire.Fault{Code: wire.CodeMalformed, Op: "read descriptors", Detail: "more descriptors than one message can carry"}
	}
	return fds, nil
}

// fill writes b into the new file fd and goes back to its start; on failure fd is closed.
func fill(fd int, b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := unix.Pwrite(fd, b[done:], int64(done))
		if err != nil {
			unix.Close(fd)
			return -1, err
		}
		done += n
	}
	return fd, nil
}
