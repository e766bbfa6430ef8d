package supervise

import "golang.org/x/sys/unix"

// needsLock says whether a name is judged by where it lies, so that nothing may move between the judgement and the call.
func (w *worker) needsLock(name []byte) bool {
	bits, glob := w.known(name)
	return bits&^isLeft != 0 || glob
}

// lockFor holds moves shared when the name needs it; the answer is for unlockFor.
func (w *worker) lockFor(name []byte, always bool) bool {
	if !always && !w.needsLock(name) {
		return false
	}
	w.moves.RLock()
	return true
}

func (w *worker) unlockFor(locked bool) {
	if locked {
		w.moves.RUnlock()
	}
}

// deny reports the refusal and gives the error that the caller sees for a name that must not come into being.
func (w *worker) deny(p place, q *rule) errno {
	w.violation("file-write", w.fullPath(p), q.name.Rule)
	if w.exists(p) {
		return unix.EEXIST
	}
	return unix.EACCES
}

// seen reports what mounts refused, and under an audit what was made, and hands the error on.
func (w *worker) seen(p place, e errno) errno {
	switch e {
	case unix.EROFS:
		path := w.fullPath(p)
		w.violation("file-write", path, w.ruleOf(path))
	case 0:
		w.mayLeave(p)
		if w.cfg.Audit == nil {
			break
		}
		w.audits.put(w.entry("file-write", w.fullPath(p), ""), w.permitted, w.quit)
	}
	return e
}

// mkdir answers first what needs no judgement: programs make every directory above a file, again for each file.
func (w *worker) mkdir(dirfd int32, addr uint64, mode uint32) errno {
	base, e := w.from(dirfd, addr, &w.a)
	if e != 0 {
		return e
	}
	if w.there(base, &w.a) {
		closeFd(base)
		return unix.EEXIST
	}
	p, e := w.parent(base, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(p.dir)
	if e = w.takeUmask(); e != 0 {
		return e
	}
	// Shared also for names that no rule mentions: no other directory may be moved here before this one's identity is taken.
	w.moves.RLock()
	defer w.moves.RUnlock()
	if q := w.judge(p); q != nil {
		return w.deny(p, q)
	}
	if e = mkdirat(p.dir, p.name, mode); e == unix.EROFS {
		if o := w.once.match(w, p); o != nil {
			return w.seen(p, w.once.mkdir(w, o, mode))
		}
	}
	if e == 0 {
		w.left.Store(true)
		if w.statBare(p) == 0 && w.isKind(unix.S_IFDIR) {
			w.born.add(identity(&w.st))
		}
	}
	return w.seen(p, e)
}

func (w *worker) mknod(dirfd int32, addr uint64, mode uint32, dev uint64) errno {
	switch mode & unix.S_IFMT { // judged before the path, as natively
	case 0, unix.S_IFREG, unix.S_IFCHR, unix.S_IFBLK, unix.S_IFIFO, unix.S_IFSOCK:
	case unix.S_IFDIR:
		return unix.EPERM
	default:
		return unix.EINVAL
	}
	p, e := w.where(dirfd, addr, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(p.dir)
	if e = w.takeUmask(); e != 0 {
		return e
	}
	defer w.unlockFor(w.lockFor(p.name, false))
	if q := w.judge(p); q != nil {
		return w.deny(p, q)
	}
	return w.seen(p, mknodat(p.dir, p.name, mode, dev))
}

func (w *worker) symlink(target uint64, dirfd int32, addr uint64) errno {
	if e := w.readPath(target, &w.b); e != 0 {
		return e
	}
	p, e := w.where(dirfd, addr, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(p.dir)
	defer w.unlockFor(w.lockFor(p.name, len(w.rules.globs) > 0))
	q := w.judge(p)
	if q == nil {
		q = w.judgeLink(p)
	}
	if q != nil {
		return w.deny(p, q)
	}
	return w.seen(p, symlinkat(w.b.buf[:w.b.n], p.dir, p.name))
}

// link performs link(2) and linkat(2). The source is looked up first, and its error wins.
func (w *worker) link(fromDir int32, from uint64, toDir int32, to uint64, flags int) errno {
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return unix.EINVAL
	}
	src, e := w.linkSource(fromDir, from, flags)
	if e != 0 {
		return e
	}
	defer closeFd(src.dir)
	p, e := w.where(toDir, to, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(p.dir)
	w.moves.RLock()
	defer w.moves.RUnlock()
	var q *rule
	if src.name != nil {
		if q = w.judgeAway(src); q != nil {
			w.violation("file-write", w.fullPath(src), q.name.Rule)
			return unix.EACCES
		}
		if e = w.stat(src); e != 0 {
			return e
		}
	} else if e = w.statFd(src.dir); e != 0 {
		return e
	}
	isLink, isSocket := w.isKind(unix.S_IFLNK), w.isKind(unix.S_IFSOCK)
	if q = w.judge(p); q == nil && isLink {
		q = w.judgeLink(p)
	}
	if q != nil {
		return w.deny(p, q)
	}
	if isSocket && w.reachable(p) {
		w.violation("unix-socket", w.fullPath(p), "")
		return unix.EACCES
	}
	if src.name == nil {
		return w.seen(p, linkat(w.procSelf, w.number("", src.dir), p.dir, p.name, unix.AT_SYMLINK_FOLLOW))
	}
	return w.seen(p, linkat(src.dir, src.name, p.dir, p.name, 0))
}

// linkSource resolves the source of a link: a name in a directory, or, with name nil, the object itself.
func (w *worker) linkSource(fromDir int32, from uint64, flags int) (place, errno) {
	e := w.readPath(from, &w.b)
	switch {
	case e == unix.ENOENT && flags&unix.AT_EMPTY_PATH != 0:
		w.b.n = 0
		fd, e := w.base(fromDir, &w.b)
		return place{dir: fd}, e
	case e != 0:
		return place{dir: -1}, e
	case flags&unix.AT_SYMLINK_FOLLOW != 0 || w.b.buf[w.b.n-1] == '/': // a slash behind a link follows it, and /proc/self must be the caller
		base, e := w.base(fromDir, &w.b)
		if e != 0 {
			return place{dir: -1}, e
		}
		defer closeFd(base)
		fd, e := w.walk(base, string(w.b.buf[:w.b.n]), false)
		return place{dir: fd}, e
	}
	base, e := w.base(fromDir, &w.b)
	if e != 0 {
		return place{dir: -1}, e
	}
	p, e := w.parent(base, &w.b)
	if e != 0 {
		return place{dir: -1}, e
	}
	if e == 0 {
		if e = w.stat(p); e != 0 {
			closeFd(p.dir)
			p.dir = -1
		}
	}
	return p, e
}
