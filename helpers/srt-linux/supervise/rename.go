package supervise

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

func (w *worker) rename(fromDir int32, from uint64, toDir int32, to uint64, flags uint) errno {
	switch flags {
	case 0, unix.RENAME_NOREPLACE, unix.RENAME_EXCHANGE:
	case unix.RENAME_WHITEOUT, unix.RENAME_WHITEOUT | unix.RENAME_NOREPLACE:
		return unix.EPERM // needs CAP_MKNOD, which nobody has here
	default:
		return unix.EINVAL
	}
	src, e := w.where(fromDir, from, &w.a)
	if e != 0 {
		return e
	}
	defer closeFd(src.dir)
	dst, e := w.where(toDir, to, &w.b)
	if e != 0 {
		return e
	}
	defer closeFd(dst.dir)
	exchange := flags&unix.RENAME_EXCHANGE != 0
	if !w.needsLock(src.name) && !w.needsLock(dst.name) && len(w.rules.globs) == 0 {
		w.moves.RLock()
		if !w.movesDirectory(src) && (!exchange || !w.movesDirectory(dst)) {
			defer w.moves.RUnlock()
			if q := w.inProtectedTree(src, dst); q != nil {
				return w.denyMove(src, dst, q)
			}
			if w.isSocketAt(src) && w.reachable(dst) {
				w.violation("unix-socket", w.fullPath(dst), "")
				return unix.EACCES
			}
			if exchange {
				w.mayLeave(src)
			}
			return w.seen(dst, renameat2(src.dir, src.name, dst.dir, dst.name, flags))
		}
		w.moves.RUnlock()
	}
	w.moves.Lock()
	defer w.moves.Unlock()
	q := w.judgeMove(src, dst)
	if q == nil && exchange {
		q = w.judgeMove(dst, src)
	}
	if q != nil {
		return w.denyMove(src, dst, q)
	}
	if w.bringsSocket(src, dst) || exchange && w.bringsSocket(dst, src) {
		w.violation("unix-socket", w.fullPath(dst), "")
		return unix.EACCES
	}
	if w.movesForeign(src) || exchange && w.movesForeign(dst) {
		return unix.EBUSY
	}
	if w.holdsMount(src) || exchange && w.holdsMount(dst) {
		return unix.EBUSY
	}
	if exchange {
		w.mayLeave(src)
	}
	return w.seen(dst, renameat2(src.dir, src.name, dst.dir, dst.name, flags))
}

// denyMove is deny for renames: what is moved must exist, and what stands at the target does not matter.
func (w *worker) denyMove(src, dst place, q *rule) errno {
	if !w.exists(src) {
		return unix.ENOENT
	}
	w.violation("file-write", w.fullPath(dst), q.name.Rule)
	return unix.EACCES
}

// movesDirectory looks at what a rename would move. The caller holds moves, so only a directory that the run has just made can take
// the name afterwards. Without patterns no rule is about what that brings under a name that no rule mentions.
func (w *worker) movesDirectory(p place) bool { return w.statBare(p) == 0 && w.isKind(unix.S_IFDIR) }

func (w *worker) isSocketAt(p place) bool {
	return w.sockets.named() && w.statBare(p) == 0 && w.isKind(unix.S_IFSOCK)
}

// bringsSocket says whether moving src to dst could make a socket reachable: src itself, or one that the directory src holds. The caller
// holds moves alone.
func (w *worker) bringsSocket(src, dst place) bool {
	if !w.sockets.named() || w.statBare(src) != 0 {
		return false
	}
	switch {
	case w.isKind(unix.S_IFSOCK):
		return w.reachable(dst)
	case w.isKind(unix.S_IFDIR):
		from, to, left := w.fullPath(src), w.fullPath(dst), maxLooked
		return (w.foreign || w.sockets.mayAllowBelow(to)) && w.holdsSocket(src.dir, string(bare(src.name)), from, to, &left)
	}
	return false
}

// holdsSocket looks in the directory dir/name for a socket that somebody else bound and that could be connected to only at the path to,
// not at from, where it is. What it cannot find out counts as one.
func (w *worker) holdsSocket(dir int, name, from, to string, left *int) bool {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	names, ok := readDir(fd, *left)
	if *left -= len(names); !ok || *left < 0 {
		return true
	}
	return slices.ContainsFunc(names, func(n dirEntry) bool {
		from, to := join(from, n.name), join(to, n.name)
		switch {
		case n.dir:
			return w.holdsSocket(fd, n.name, from, to, left)
		case !n.socket, !w.foreign && (!w.sockets.allows(to) || w.sockets.allows(from)):
			return false
		}
		var st unix.Statx_t
		err := unix.Statx(fd, n.name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
		return err != nil || !w.sockets.isOwn(identity(&st))
	})
}

// inProtectedTree is what is left of the judgement for names that no rule mentions.
func (w *worker) inProtectedTree(src, dst place) *rule {
	if q := w.judge(dst); q != nil {
		return q
	}
	return w.judgeAway(src)
}

// judgeMove gives the rule that forbids to take src away or to let it arrive at dst.
func (w *worker) judgeMove(src, dst place) *rule {
	if q := w.judgeAway(src); q != nil {
		return q
	}
	if q := w.judgeBelow(src); q != nil {
		return q
	}
	return w.judgeArrival(src, dst)
}

// judgeBelow gives a NamePath rule whose path exists inside the directory that is to be moved.
func (w *worker) judgeBelow(p place) *rule {
	if bits, _ := w.known(p.name); bits&isPart == 0 {
		return nil
	}
	name := string(bare(p.name))
	j := judgement{w, p.dir, string(w.pathOf(p.dir)), nil}
	full := join(j.path, name)
	below := w.rules.below(foldString(full))
	for i := range below {
		q := &below[i]
		rest := strings.Join(ref{q, strings.Count(full, "/") - 1}.after(), "/")
		var st unix.Stat_t
		if unix.Fstatat(p.dir, name+"/"+rest, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return q
		}
	}
	return nil
}
