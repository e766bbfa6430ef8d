package supervise

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// nameMax is the longest name that a directory can hold.
const nameMax = 255

// A pathBuf holds one path argument, NUL-terminated.
type pathBuf struct {
	buf [pathMax + 1]byte
	n   int
}

func (p *pathBuf) set(s string) errno {
	if len(s) >= pathMax {
		return unix.ENAMETOOLONG
	}
	p.n = copy(p.buf[:], s)
	p.buf[p.n] = 0
	return 0
}

// split cuts the path into the directory part and the last component. Trailing slashes, "." and ".." stay with the last component:
// the kernel judges them there as it would natively.
func (p *pathBuf) split() (dir, last []byte) {
	end := p.n
	for end > 0 && p.buf[end-1] == '/' {
		end--
	}
	if end == 0 {
		return p.buf[:1], dot // "/" itself
	}
	i := bytes.LastIndexByte(p.buf[:end], '/')
	return p.buf[:i+1], p.buf[i+1 : p.n]
}

// A place is a name in a directory: what a call is about, once its path was resolved.
type place struct {
	dir  int // descriptor of the directory, in our mounts, which are the caller's
	name []byte
}

// readPath copies a path argument, once.
func (w *worker) readPath(addr uint64, p *pathBuf) errno {
	n, e := w.readMem(addr, p.buf[:pathMax], true)
	p.n = bytes.IndexByte(p.buf[:n], 0)
	switch {
	case p.n == 0:
		return unix.ENOENT
	case p.n > 0:
		return 0
	case e == 0:
		p.n = 0
		return unix.ENAMETOOLONG
	}
	p.n = 0
	return unix.EFAULT
}

// where copies a path argument and resolves everything but its last component. The caller of where closes dir.
func (w *worker) where(dirfd int32, addr uint64, p *pathBuf) (place, errno) {
	base, e := w.from(dirfd, addr, p)
	if e != 0 {
		return place{dir: -1}, e
	}
	return w.parent(base, p)
}

// from copies a path argument and gives the directory that it starts from, as base does.
func (w *worker) from(dirfd int32, addr uint64, p *pathBuf) (int, errno) {
	if e := w.readPath(addr, p); e != 0 {
		return -1, e
	}
	base, e := w.base(dirfd, p)
	if e != 0 {
		return -1, e
	}
	if !w.alive() { // the thread id may have been given to another while we looked
		e = unix.EINTR
	} else if dirfd != unix.AT_FDCWD && base >= 0 && (w.statFd(base) != 0 || !w.isKind(unix.S_IFDIR)) {
		e = unix.ENOTDIR // now, because the second path of a rename is looked at after the first
	}
	if e != 0 {
		closeFd(base)
		return -1, e
	}
	return base, 0
}

// there says whether a path certainly leads to something, a final link not followed. Where it could mean something else to the caller
// (magic links, another root) it says no.
func (w *worker) there(base int, p *pathBuf) bool {
	if w.foreign {
		return false
	}
	w.how = unix.OpenHow{Flags: openHere, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	fd, e := openat2(base, p.buf[:p.n], &w.how)
	closeFd(fd)
	return e == 0
}

// base gives the directory that a path starts from: -1 for an absolute path.
func (w *worker) base(dirfd int32, p *pathBuf) (int, errno) {
	switch {
	case p.buf[0] == '/':
		return -1, 0
	case dirfd == unix.AT_FDCWD:
		return w.procOpen(cwdName, unix.O_PATH|unix.O_DIRECTORY)
	}
	return w.takeFd(dirfd)
}

// parent resolves the directory part of p, starting at base, which it closes or hands on.
func (w *worker) parent(base int, p *pathBuf) (place, errno) {
	dir, last := p.split()
	if len(dir) == 0 {
		return place{base, last}, 0
	}
	fd, e := w.directory(base, dir)
	closeFd(base)
	return place{fd, last}, e
}

func (w *worker) directory(base int, dir []byte) (int, errno) {
	// The "." behind the slash makes the kernel check search permission on the directory itself now, so that errors come in the
	// native order.
	n := copy(w.tmp[:], dir)
	w.tmp[n], w.tmp[n+1] = '.', 0
	w.how = unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if w.foreign {
		return w.walk(base, string(w.tmp[:n+1]), true)
	}
	fd, e := openat2(base, w.tmp[:n+1], &w.how)
	if e == 0 && w.cfg.SamePIDs && w.isProc(fd) {
		closeFd(fd)
		e = unix.ENOENT // perhaps by way of our own /proc/self
	}
	if e == unix.ELOOP || e == unix.ENOENT { // perhaps /proc/self or a magic link on the way
		return w.walk(base, string(w.tmp[:n+1]), true)
	}
	return fd, e
}

// openName opens dir/name and refuses a link there. RESOLVE_NO_SYMLINKS and not O_NOFOLLOW, because the latter stays visible in
// F_GETFL. The supervisor itself must never get a controlling terminal: O_NOCTTY, which does not stay visible.
func (w *worker) openName(dir int, name []byte, flags int, mode uint32) (int, errno) {
	const valid = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_APPEND | unix.O_NONBLOCK | unix.O_SYNC | unix.O_ASYNC |
		unix.O_DIRECT | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NOATIME | unix.O_CLOEXEC | unix.O_PATH
	w.how = unix.OpenHow{Flags: uint64(flags&valid | unix.O_NOCTTY), Resolve: unix.RESOLVE_NO_SYMLINKS}
	if flags&unix.O_CREAT != 0 {
		w.how.Mode = uint64(mode & 0o7777)
	}
	return openat2(dir, name, &w.how)
}

// pathOf gives the resolved path of a directory of ours, as the sandbox's mounts show it, in w.path; nil when it cannot be had
// (longer than a page).
func (w *worker) pathOf(dir int) []byte {
	n, e := readlinkat(w.procSelf, w.number("", dir), w.path[:])
	if e != 0 || n == 0 || n >= len(w.path) || w.path[0] != '/' {
		return nil
	}
	return w.path[:n]
}

// fullPath is for messages.
func (w *worker) fullPath(p place) string {
	return join(string(w.pathOf(p.dir)), string(bytes.TrimRight(p.name, "/")))
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// stat looks at a place without following a link. The result stands in w.st.
func (w *worker) stat(p place) errno { return statx(p.dir, p.name, unix.AT_SYMLINK_NOFOLLOW, &w.st) }

func (w *worker) statFd(fd int) errno { return statx(fd, empty, unix.AT_EMPTY_PATH, &w.st) }

func (w *worker) isKind(kind uint16) bool { return w.st.Mode&unix.S_IFMT == kind }

// exists looks at the name without its trailing slashes.
func (w *worker) exists(p place) bool { return w.statBare(p) == 0 }

func (w *worker) statBare(p place) errno {
	n := copy(w.tmp[:], bytes.TrimRight(p.name, "/"))
	w.tmp[n] = 0
	return statx(p.dir, w.tmp[:n], unix.AT_SYMLINK_NOFOLLOW, &w.st)
}
