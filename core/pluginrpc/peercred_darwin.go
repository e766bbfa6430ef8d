package pluginrpc

import "golang.org/x/sys/unix"

// peerPid is the process that connected, or that listens, at the other end of a local socket.
func peerPid(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID) }
