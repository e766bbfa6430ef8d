//go:build unix

package channel

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// maxFiles is how many descriptors Linux lets one message carry.
const maxFiles = 253

// unixConn takes over fd, which has to be a local socket of the given type.
func unixConn(fd uintptr, kind int) (*net.UnixConn, error) {
	f := os.NewFile(fd, "channel")
	if f == nil {
		return nil, fmt.Errorf("descriptor %d is not open", fd)
	}
	defer f.Close()
	got, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	uc, ok := c.(*net.UnixConn)
	if !ok || got != kind {
		c.Close()
		return nil, fmt.Errorf("descriptor %d is not the socket that srt passes", fd)
	}
	return uc, nil
}

// rights gives the descriptors of a control message, close-on-exec. What it returns beside an error is the caller's too.
func rights(oob []byte) (files []*os.File, err error) {
	if len(oob) == 0 {
		return nil, nil
	}
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}
