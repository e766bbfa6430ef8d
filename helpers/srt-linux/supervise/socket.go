package supervise

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sockaddrMax is sizeof(struct sockaddr_storage).
const sockaddrMax = 128

// sockaddr reads the address once, into w.addr. path is set for an AF_UNIX address that names a file.
func (w *worker) sockaddr(addr uint64, n uint32) (raw []byte, path string, e errno) {
	if n > sockaddrMax {
		return nil, "", unix.EINVAL
	}
	raw = w.addr[:n]
	if got, e := w.readMem(addr, raw, false); e != 0 || got != int(n) {
		return nil, "", unix.EFAULT
	}
	if n > 2 && binary.NativeEndian.Uint16(raw) == unix.AF_UNIX && raw[2] != 0 {
		p, _, _ := bytes.Cut(raw[2:], []byte{0})
		path = string(p)
	}
	return raw, path, 0
}

// takeSocket copies the caller's socket and address. For a socket of another family an AF_UNIX path is not a path.
func (w *worker) takeSocket(sock int32, addr uint64, n uint32) (fd int, raw []byte, path string, e errno) {
	if fd, e = w.takeFd(sock); e != 0 {
		return -1, nil, "", e
	}
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN) // whether it is a socket comes first, as natively
	if err != nil {
		closeFd(fd)
		e, _ = err.(errno)
		return -1, nil, "", e
	}
	switch raw, path, e = w.sockaddr(addr, n); {
	case e != 0:
	case !w.alive():
		e = unix.EINTR
	case domain != unix.AF_UNIX:
		path = ""
	case path != "" && len(raw) > unix.SizeofSockaddrUnix:
		e = unix.EINVAL
	}
	if e != 0 {
		closeFd(fd)
		fd = -1
	}
	return fd, raw, path, e
}

// bind keeps the caller's spelling of the path, because getsockname shows it (Python's multiprocessing hands it to its children). The
// name is judged where it was when it was resolved; should the spelling lead elsewhere by now, only a name that no rule mentions can
// come into being there, and the socket is not counted as the command's own. What could bring another socket under the name
// (rename, link) waits meanwhile.
func (w *worker) bind(sock int32, addr uint64, n uint32) errno {
	fd, raw, path, e := w.takeSocket(sock, addr, n)
	if e != 0 {
		return e
	}
	defer closeFd(fd)
	if path == "" {
		return socketCall(unix.SYS_BIND, fd, raw)
	}
	if e = w.a.set(path); e != 0 {
		return e
	}
	base, e := w.base(unix.AT_FDCWD, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(base)
	if e = w.takeUmask(); e != 0 {
		return e
	}
	if !w.alive() {
		return unix.EINTR
	}
	at := base
	if base >= 0 {
		if at, e = w.dup(base); e != 0 {
			return e
		}
	}
	w.moves.Lock()
	defer w.moves.Unlock()
	p, e := w.parent(at, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(p.dir)
	if q := w.judge(p); q != nil {
		if e = w.deny(p, q); e == unix.EEXIST {
			e = unix.EADDRINUSE
		}
		return e
	}
	if w.exists(p) {
		return unix.EADDRINUSE
	}
	here := base
	if w.foreign || w.needsLock(p.name) || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/fd/") {
		here = p.dir // a spelling that means something else to us, or that must not come to mean something else
		raw = append(append([]byte{unix.AF_UNIX, 0}, p.name...), 0)
	}
	if here >= 0 && unix.Fchdir(here) != nil {
		return unix.EACCES
	}
	if e = w.seen(p, socketCall(unix.SYS_BIND, fd, raw)); e == 0 {
		w.own(p)
	}
	return e
}

// own remembers the socket that was just bound. The caller holds moves alone and nothing had the name before.
func (w *worker) own(p place) {
	fd, e := openat(p.dir, p.name, openHere)
	if e != 0 {
		return
	}
	if w.statFd(fd) != 0 || !w.isKind(unix.S_IFSOCK) {
		closeFd(fd)
		return
	}
	w.sockets.remember(identity(&w.st), fd)
}

// connect lets unix sockets be reached by what their path really leads to, and performs every other connect as it is.
func (w *worker) connect(sock int32, addr uint64, n uint32) errno {
	fd, raw, path, e := w.takeSocket(sock, addr, n)
	if e != 0 {
		return e
	}
	at := -1
	if path != "" {
		if at, e = w.findSocket(path); e != 0 {
			closeFd(fd)
			return e
		}
		raw = append([]byte{unix.AF_UNIX, 0}, w.number("", at)...)
		raw = append(raw, 0)
		if unix.Fchdir(w.procSelf) != nil {
			e = unix.EACCES
		}
	}
	if e == 0 {
		e = w.connectNow(fd, raw)
	}
	if (e == unix.EINPROGRESS || e == unix.EAGAIN || e == unix.EALREADY) && !nonblocking(fd) {
		kind := waitConnect
		if e == unix.EAGAIN {
			kind = waitBacklog
		}
		return w.park(&waiting{call: w.call, kind: kind, fd: fd, extra: at, addr: bytes.Clone(raw), until: sendTimeout(fd)})
	}
	closeFd(fd)
	closeFd(at)
	return e
}

// findSocket resolves the path of a socket and judges it.
func (w *worker) findSocket(path string) (int, errno) {
	if e := w.a.set(path); e != 0 {
		return -1, e
	}
	base, e := w.base(unix.AT_FDCWD, &w.a)
	if e != 0 {
		return -1, e
	}
	if !w.alive() {
		closeFd(base)
		return -1, unix.EINTR
	}
	at, e := w.walk(base, path, false)
	closeFd(base)
	if e != 0 {
		return -1, e
	}
	if e = w.statFd(at); e == 0 && w.isKind(unix.S_IFSOCK) && !w.cfg.AllowAllSockets && !w.sockets.isOwn(identity(&w.st)) {
		if real := w.pathOf(at); real == nil || !w.sockets.allows(string(real)) || !w.isAt(at, string(real)) {
			w.violation("unix-socket", string(real), "")
			e = unix.EPERM
		}
	}
	if e != 0 {
		closeFd(at)
		return -1, e
	}
	return at, 0
}

// isAt says whether path leads to what at is: the path of a descriptor is only its own in our mount namespace.
func (w *worker) isAt(at int, path string) bool {
	if w.statFd(at) != 0 {
		return false
	}
	want := identity(&w.st)
	return w.a.set(path) == 0 && statx(-1, w.a.buf[:w.a.n], unix.AT_SYMLINK_NOFOLLOW, &w.st) == 0 && identity(&w.st) == want
}

func nonblocking(fd int) bool {
	fl, e := getFlags(fd)
	return e == 0 && fl&unix.O_NONBLOCK != 0
}

// connectNow never waits. The flag is the caller's too (it belongs to the open socket), so it is changed for the moment of the call.
func (w *worker) connectNow(fd int, raw []byte) errno {
	fl, e := getFlags(fd)
	if e != 0 {
		return e
	}
	if fl&unix.O_NONBLOCK != 0 {
		return socketCall(unix.SYS_CONNECT, fd, raw)
	}
	if e = setFlags(fd, fl|unix.O_NONBLOCK); e != 0 {
		return e
	}
	if e = socketCall(unix.SYS_CONNECT, fd, raw); e == unix.EINPROGRESS {
		e = socketCall(unix.SYS_CONNECT, fd, raw) // the sandbox's network is its loopback: the answer is there already
	}
	setFlags(fd, fl)
	return e
}

// connectAgain looks whether a parked connect has come to an end.
func (w *worker) connectAgain(c *waiting, event bool, now time.Time) errno {
	if !c.until.IsZero() && now.After(c.until) {
		if c.kind == waitBacklog {
			return unix.EAGAIN
		}
		return unix.EINPROGRESS
	}
	if c.kind == waitConnect && !event {
		return eLater
	}
	if c.kind == waitBacklog {
		copy(c.addr[2:], append(w.number("", c.extra), 0))
		if unix.Fchdir(w.procSelf) != nil {
			return unix.EACCES
		}
	}
	switch e := w.connectNow(c.fd, c.addr); e {
	case unix.EINPROGRESS, unix.EALREADY, unix.EAGAIN:
		return eLater
	default:
		return e
	}
}

// sendTimeout is when SO_SNDTIMEO would end a connect; zero for never.
func sendTimeout(fd int) time.Time {
	tv, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO)
	if err != nil || tv.Sec == 0 && tv.Usec == 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(tv.Nano()))
}
