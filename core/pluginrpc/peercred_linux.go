package pluginrpc

import "golang.org/x/sys/unix"

// peerPid is the process that connected, or that listens, at the other end of a local socket.
func peerPid(fd int) (int, error) {
	u, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(u.Pid), nil
}
