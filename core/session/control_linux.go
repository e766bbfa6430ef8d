package session

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// control is srt's end of a control channel that waits in the runtime's poller: a thread per command would be too many.
type control struct {
	file *os.File // owns the descriptor
	raw  syscall.RawConn
	ch   *oneshot.Channel
}

// newControl gives srt's end and the init's.
func newControl() (*control, *os.File, error) {
	ours, theirs, err := oneshot.Pair()
	if err != nil {
		return nil, nil, err
	}
	end := os.NewFile(uintptr(theirs), "control")
	if err := unix.SetNonblock(ours, true); err != nil {
		unix.Close(ours)
		end.Close()
		return nil, nil, err
	}
	c := &control{file: os.NewFile(uintptr(ours), "control"), ch: oneshot.NewChannel(ours, wire.MaxControlMessage)}
	if c.raw, err = c.file.SyscallConn(); err != nil {
		c.file.Close()
		end.Close()
		return nil, nil, err
	}
	return c, end, nil
}

// recv waits for one message; the descriptors are the caller's.
func (c *control) recv(m *wire.ControlMessage) (fds []int, err error) {
	err = c.raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	if err != nil {
		return nil, err
	}
	return c.ch.Recv(m) // does not wait now: nobody else reads
}

// due bounds the wait for the next messages; zero: no bound.
func (c *control) due(t time.Time) { _ = c.file.SetReadDeadline(t) }

// shutdown makes the init end the sandbox.
func (c *control) shutdown() {
	_ = c.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) })
}

func (c *control) close() { c.file.Close() }
