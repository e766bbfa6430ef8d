package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// sweepAfter kills what the wrapper leaves in its process group when it ends. bubblewrap's child waits for its parent's word before it
// asks to die with it: when the parent is killed in between, the child would wait for ever and hold the command's streams open.
func (c *Command) sweepAfter(wrapper int) error {
	fd, err := unix.PidfdOpen(wrapper, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH {
		return nil // it has ended and was waited for: nobody else does that before Start returns
	}
	if err != nil {
		return err
	}
	pidfd := os.NewFile(uintptr(fd), "pidfd")
	conn, err := pidfd.SyscallConn()
	if err != nil {
		pidfd.Close()
		return err
	}
	c.workers.Go(func() {
		defer pidfd.Close()
		_ = conn.Read(func(fd uintptr) bool { // the poller wakes it; a pidfd is readable when the process has ended
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(p, 0)
			return n > 0 || err != nil && err != unix.EINTR
		})
		_ = unix.Kill(-wrapper, unix.SIGKILL) // its own session; the number cannot be another's so soon
	})
	return nil
}
