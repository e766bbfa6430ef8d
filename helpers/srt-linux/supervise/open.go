package supervise

import (
	"strings"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// open performs open(O_CREAT): the final link is followed here, one step at a time, and every name on the way is judged where it
// would be created. With Explain it sees every open; those without O_CREAT continue.
func (w *worker) open(dirfd int32, addr uint64, flags int, mode uint32) (int, errno) {
	if flags&unix.O_CREAT == 0 || flags&unix.O_PATH != 0 {
		w.explain(dirfd, addr, flags)
		w.letContinue()
		return -1, eLater
	}
	if flags&unix.O_DIRECTORY != 0 { // (O_TMPFILE contains it) refused before the path is looked at
		return -1, unix.EINVAL
	}
	p, e := w.where(dirfd, addr, &w.a)
	if e != 0 {
		return -1, e
	}
	if e = w.takeUmask(); e != 0 {
		closeFd(p.dir)
		return -1, e
	}
	for links := 0; ; links++ {
		fd, e := w.openLast(p, flags, mode)
		if e != unix.ELOOP || flags&(unix.O_NOFOLLOW|unix.O_EXCL) != 0 || links == maxLinks {
			closeFd(p.dir)
			return fd, e
		}
		if p, fd, e = w.followFinal(p, flags); e != 0 || fd >= 0 {
			return fd, e
		}
	}
}

// followFinal takes one step of a final symbolic link: to the next place, or, for a magic link, to the opened object. It closes p.
func (w *worker) followFinal(p place, flags int) (place, int, errno) {
	defer func(dir int) { closeFd(dir) }(p.dir)
	none := place{dir: -1}
	link, e := openat(p.dir, p.name, openHere)
	if e != 0 {
		return none, -1, e
	}
	defer closeFd(link)
	if e = w.statFd(link); e != 0 {
		return none, -1, e
	}
	if !w.isKind(unix.S_IFLNK) {
		return none, -1, unix.ELOOP
	}
	at, target, e := w.readLink(p.dir, link, string(bare(p.name)))
	if e != 0 {
		return none, -1, e
	}
	if target == "" { // a magic link: the object exists, open it again by descriptor
		defer closeFd(at)
		if w.pipeOutside(at, flags) {
			w.violation("file-write", string(w.pathOf(at)), "")
			return none, -1, unix.EROFS
		}
		fd, e := w.reopen(at, flags|unix.O_NONBLOCK)
		fd, e = w.settle(fd, e, flags, func() (int, errno) { return w.dup(at) })
		return none, fd, e
	}
	if strings.HasSuffix(string(p.name), "/") {
		target += "/"
	}
	if e = w.a.set(target); e != 0 {
		return none, -1, e
	}
	base := -1
	if target[0] != '/' {
		if base, e = openat(p.dir, dot, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC); e != 0 {
			return none, -1, e
		}
	}
	next, e := w.parent(base, &w.a)
	return next, -1, e
}

// openLast opens a place without following a link. It never waits: what could block natively (a FIFO without the other end, a lease)
// is tried without blocking first and parked.
func (w *worker) openLast(p place, flags int, mode uint32) (int, errno) {
	path := w.pathOf(p.dir)
	if w.special(p.dir, path, p.name) {
		return w.openSpecial(path, p, flags)
	}
	lock := w.needsLock(p.name)
	ruled := lock || path == nil || w.rules.meetsTree(path, w.fold[:0]) || w.inGitDir(path, p.name) != nil
	if !ruled && flags&(unix.O_TRUNC|unix.O_EXCL) == unix.O_TRUNC { // most such opens make a new file, about which there is nothing more to ask
		if fd, e := w.openName(p.dir, p.name, flags|unix.O_EXCL|unix.O_CLOEXEC, mode); e == 0 {
			w.seen(p, 0)
			return fd, 0
		}
	}
	if e := w.refusePipe(p, flags); e != 0 {
		return -1, e
	}
	locked := w.lockFor(p.name, lock)
	if ruled {
		if q := w.judge(p); q != nil {
			fd, e := w.openDenied(p, flags, q)
			w.unlockFor(locked)
			return w.finishOpen(p, fd, e, flags)
		}
	}
	fl := flags | unix.O_CLOEXEC
	if flags&unix.O_EXCL == 0 {
		fl |= unix.O_NONBLOCK
	}
	fd, e := w.openName(p.dir, p.name, fl, mode)
	w.unlockFor(locked)
	if e == unix.EROFS {
		if t := w.once.match(w, p); t != nil {
			e = w.once.use(t, false, func(parent int, name []byte) (e errno) {
				fd, e = w.openName(parent, name, fl, mode)
				return e
			})
			if e != 0 {
				closeFd(fd)
			}
		}
	}
	w.seen(p, e)
	return w.finishOpen(p, fd, e, flags)
}

// refusePipe refuses to open a FIFO for writing that lies where nothing may be written. The kernel does not: a read-only mount is about files,
// and a FIFO leads to whoever reads it. On such a mount the command cannot change what a name means between this look and the open.
func (w *worker) refusePipe(p place, flags int) errno {
	if flags&unix.O_ACCMODE == unix.O_RDONLY || flags&unix.O_EXCL != 0 || w.stat(p) != 0 || !w.isKind(unix.S_IFIFO) {
		return 0
	}
	at, e := openat(p.dir, p.name, openHere)
	if e != 0 {
		return 0 // gone: the open judges what is there then
	}
	defer closeFd(at)
	if !w.pipeOutside(at, flags) {
		return 0
	}
	return w.seen(p, unix.EROFS)
}

// pipeOutside says whether at is a FIFO on a read-only mount that is to be opened for writing.
func (w *worker) pipeOutside(at, flags int) bool {
	if flags&unix.O_ACCMODE == unix.O_RDONLY || w.statFd(at) != 0 || !w.isKind(unix.S_IFIFO) {
		return false
	}
	var fs unix.Statfs_t
	return unix.Fstatfs(at, &fs) != nil || fs.Flags&unix.ST_RDONLY != 0
}

// openDenied opens a protected name, which must exist and is not created. What a NamePath or NameGlob names is not opened for
// writing either, should mounts let it (the host made it since the start).
func (w *worker) openDenied(p place, flags int, q *rule) (int, errno) {
	if flags&unix.O_EXCL != 0 {
		return -1, w.deny(p, q)
	}
	fd, e := w.openName(p.dir, p.name, flags&^(unix.O_CREAT|unix.O_TRUNC)|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	switch {
	case e == 0 && writes && (q.name.Kind == view.NameSequence || q.name.Kind == view.NameGitDir):
		closeFd(fd)
		return w.openName(p.dir, p.name, flags&^unix.O_CREAT|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	case e == unix.ENOENT:
		w.violation("file-write", w.fullPath(p), q.name.Rule)
		return -1, unix.EACCES
	case e == unix.EROFS, e == 0 && writes:
		w.violation("file-write", w.fullPath(p), q.name.Rule)
		if e == 0 {
			closeFd(fd)
			e = unix.EACCES
		}
		return -1, e
	}
	return fd, e
}

// finishOpen gives the descriptor the flags that were asked for, or parks the open.
func (w *worker) finishOpen(p place, fd int, e errno, flags int) (int, errno) {
	return w.settle(fd, e, flags, func() (int, errno) { return openat(p.dir, p.name, openHere) })
}

// settle ends an open that was tried without blocking. object gives an O_PATH descriptor of what was to be opened.
func (w *worker) settle(fd int, e errno, flags int, object func() (int, errno)) (int, errno) {
	if flags&(unix.O_NONBLOCK|unix.O_EXCL) != 0 {
		return fd, e
	}
	switch e {
	case 0:
		if flags&unix.O_ACCMODE == unix.O_RDONLY && w.statFd(fd) == 0 && w.isKind(unix.S_IFIFO) {
			return w.parkReader(fd, flags)
		}
		if e = setFlags(fd, flags&^unix.O_NONBLOCK); e != 0 {
			closeFd(fd)
			return -1, e
		}
		return fd, 0
	case unix.ENXIO, unix.EAGAIN: // a FIFO without a reader; a lease that is being broken
		at, oe := object()
		if oe != 0 {
			return -1, e
		}
		if oe = w.statFd(at); oe != 0 || e == unix.ENXIO && !w.isKind(unix.S_IFIFO) {
			closeFd(at)
			return -1, e
		}
		return -1, w.park(&waiting{call: w.call, kind: waitOpen, fd: at, flags: flags})
	}
	return -1, e
}
