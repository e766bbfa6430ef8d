package egress

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// connectNear connects to a service of this host when that takes no waiting: the loopback does it within the call. The socket is
// non-blocking and the caller's.
func connectNear(addr netip.AddrPort) (int, bool) {
	family, to := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: int(addr.Port())})
	switch ip := addr.Addr(); {
	case ip.Is4():
		to.(*unix.SockaddrInet4).Addr = ip.As4()
	default:
		family, to = unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: ip.As16()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, false
	}
	err = unix.Connect(fd, to)
	if err == unix.EINPROGRESS {
		err = unix.Connect(fd, to) // tells the result
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err != nil || itself(fd, addr.Port()) {
		unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// itself says whether the socket is connected to itself: when nobody listens on a port that outgoing connections get, one may get it.
func itself(fd int, port uint16) bool {
	switch local, _ := unix.Getsockname(fd); local := local.(type) {
	case *unix.SockaddrInet4:
		return local.Port == int(port)
	case *unix.SockaddrInet6:
		return local.Port == int(port)
	}
	return true
}
