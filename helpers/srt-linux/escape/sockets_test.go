package escape

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The host listens in a directory that is not writable, in one that is, and under an abstract name. A socket named open.sock in a stage
// would be allowed, so nothing else may be reached by that name.
func init() {
	classes["unix sockets"] = class{
		settings: func(string) string {
			return `{"filesystem":{"allowWrite":["."]},"network":{"allowUnixSockets":["*/open.sock"]}}`
		},
		through: func(s stage, _, _ string, o outcome) bool {
			if strings.Contains(o.Loot, hostSecret) {
				return true
			}
			for range 20 { // a datagram is read a moment after it was sent
				if strings.Contains(heard.String(), s.Secret) {
					return true
				}
				if o.Err != "" {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			return false
		},
		attacks: socketAttacks,
	}
}

// dial connects to what the host listens on and reads what it says.
func dial(domain, typ int, to unix.Sockaddr) (string, error) {
	fd, err := unix.Socket(domain, typ|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, to); err != nil {
		return "", err
	}
	return hear(fd)
}

func hear(fd int) (string, error) {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 3}); err != nil {
		return "", err
	}
	b := make([]byte, 256)
	n, err := unix.Read(fd, b)
	return string(b[:max(n, 0)]), err
}

func stream(path string) (string, error) {
	return dial(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: path})
}

// near makes a short path of a socket: a socket address holds 108 bytes.
func near(s stage, f func() (string, error)) (string, error) {
	if err := unix.Chdir(s.Work); err != nil {
		return "", err
	}
	return f()
}

var socketAttacks = []attack{
	{"connect", anybody, func(s stage) (string, error) { return stream(s.Host.Stream) }},
	{"connect in packets", anybody, func(s stage) (string, error) {
		return dial(unix.AF_UNIX, unix.SOCK_SEQPACKET, &unix.SockaddrUnix{Name: s.Host.Packet})
	}},
	{"connect in the writable directory", anybody, func(s stage) (string, error) { return stream(s.Host.Inside) }},
	{"an abstract name", anybody, func(s stage) (string, error) { return stream(s.Host.Abstract) }},
	{"through a link", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			if err := os.Symlink(s.Host.Stream, "link"); err != nil {
				return "", err
			}
			return stream("link")
		})
	}},
	{"a link under an allowed name", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			if err := os.Symlink(s.Host.Stream, "open.sock"); err != nil {
				return "", err
			}
			return stream("open.sock")
		})
	}},
	{"a second name", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			if err := os.Link(s.Host.Inside, "second"); err != nil {
				return "", err
			}
			return stream("second")
		})
	}},
	{"an allowed second name", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			if err := os.Link(s.Host.Inside, "open.sock"); err != nil {
				return "", err
			}
			return stream("open.sock")
		})
	}},
	{"an allowed second name by descriptor", anybody, func(s stage) (loot string, err error) {
		err = withOpen(s.Host.Inside, unix.O_PATH, func(fd int) error {
			if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, s.Work+"/open.sock", unix.AT_SYMLINK_FOLLOW); err != nil {
				return err
			}
			loot, err = near(s, func() (string, error) { return stream("open.sock") })
			return err
		})
		return loot, err
	}},
	{"move its directory under an allowed name", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			if err := os.MkdirAll("deep/down", 0o755); err != nil {
				return "", err
			}
			if err := os.Link(s.Host.Inside, "deep/down/open.sock"); err != nil {
				return "", err
			}
			if err := os.Rename("deep/down", "../moved"); err != nil {
				return "", err
			}
			return stream("../moved/open.sock")
		})
	}},
	{"swap its directory with one of an allowed name", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			if err := errors.Join(os.MkdirAll("deep/down", 0o755), os.Mkdir("../swapped", 0o755)); err != nil {
				return "", err
			}
			if err := os.Link(s.Host.Inside, "deep/down/open.sock"); err != nil {
				return "", err
			}
			if err := unix.Renameat2(unix.AT_FDCWD, "../swapped", unix.AT_FDCWD, "deep/down", unix.RENAME_EXCHANGE); err != nil {
				return "", err
			}
			return stream("../swapped/open.sock")
		})
	}},
	{"take the place of one of its own", anybody, func(s stage) (string, error) {
		return near(s, func() (string, error) {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return "", err
			}
			if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "own"}); err != nil {
				return "", err
			}
			unix.Close(fd)
			if err := os.Remove("own"); err != nil { // its inode number may be given to the next
				return "", err
			}
			if err := os.Link(s.Host.Inside, "own"); err != nil {
				return "", err
			}
			return stream("own")
		})
	}},
	{"through a descriptor of its directory", anybody, func(s stage) (loot string, err error) {
		err = withOpen(s.Host.Stream[:strings.LastIndexByte(s.Host.Stream, '/')], unix.O_PATH, func(fd int) error {
			loot, err = stream(fmt.Sprintf("/proc/self/fd/%d/stream", fd))
			return err
		})
		return loot, err
	}},
	{"through a descriptor of the socket", anybody, func(s stage) (loot string, err error) {
		err = withOpen(s.Host.Stream, unix.O_PATH, func(fd int) error {
			loot, err = stream(fmt.Sprintf("/dev/fd/%d", fd))
			return err
		})
		return loot, err
	}},
	{"through the root of a process", anybody, func(s stage) (string, error) { return stream("/proc/self/root" + s.Host.Stream) }},
	{"from the working directory", anybody, func(s stage) (string, error) {
		if err := unix.Chdir(s.Host.Stream[:strings.LastIndexByte(s.Host.Stream, '/')]); err != nil {
			return "", err
		}
		return stream("stream")
	}},
	{"without waiting", anybody, func(s stage) (string, error) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		if err := unix.Connect(fd, &unix.SockaddrUnix{Name: s.Host.Stream}); err != nil {
			return "", err
		}
		if err := unix.SetNonblock(fd, false); err != nil {
			return "", err
		}
		return hear(fd)
	}},
	{"a datagram", anybody, func(s stage) (string, error) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		return "", unix.Sendto(fd, []byte(s.Secret), 0, &unix.SockaddrUnix{Name: s.Host.Datagram})
	}},
	{"a raw socket, which sends datagrams", anybody, func(s stage) (string, error) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_RAW, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		return "", unix.Sendto(fd, []byte(s.Secret), 0, &unix.SockaddrUnix{Name: s.Host.Datagram})
	}},
	{"a datagram from a pair", anybody, func(s stage) (string, error) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return "", err
		}
		return "", unix.Sendmsg(fds[0], []byte(s.Secret), nil, &unix.SockaddrUnix{Name: s.Host.Datagram}, 0)
	}},
	{"a datagram with the upper half set", anybody, func(s stage) (string, error) {
		fd, err := call(unix.SYS_SOCKET, uint64(1<<32|unix.AF_UNIX), uint64(1<<32|unix.SOCK_DGRAM), 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(int(fd))
		return "", unix.Sendto(int(fd), []byte(s.Secret), 0, &unix.SockaddrUnix{Name: s.Host.Datagram})
	}},
	{"an address with a pair of packets", nobody, func(s stage) (string, error) { // the kernel ignores the address
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
		if err != nil {
			return "", err
		}
		return "", unix.Sendto(fds[0], []byte(s.Secret), 0, &unix.SockaddrUnix{Name: s.Host.Datagram})
	}},
	{"rename it under an allowed name", anybody, func(s stage) (string, error) { // the last one, as it moves the socket
		return near(s, func() (string, error) {
			if err := os.Rename(s.Host.Inside, "open.sock"); err != nil {
				return "", err
			}
			return stream("open.sock")
		})
	}},
}
