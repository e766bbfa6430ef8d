package supervise

import (
	"strings"

	"github.com/srt-dev/srt/helpers/srt-linux/dirent"
	"golang.org/x/sys/unix"
)

// judgeLink gives the rule that a symbolic link of this name would undermine by standing for one of its components.
func (w *worker) judgeLink(p place) *rule {
	if w.foreign {
		return w.judgeForeignLink(p)
	}
	bits, _ := w.known(p.name)
	if bits&isPart == 0 && len(w.rules.globs) == 0 {
		return nil
	}
	name := string(bare(p.name))
	j := judgement{w, p.dir, string(w.pathOf(p.dir)), nil}
	if bits&isPart != 0 {
		if refs := j.part(name); len(refs) > 0 {
			return refs[0].rule
		}
	}
	return w.rules.leadsTo(join(j.path, name))
}

// leadsTo gives the pattern to whose literal directory a link at path could lead somewhere else.
func (r *Rules) leadsTo(path string) *rule {
	for _, q := range r.globs {
		if q.base == path || strings.HasPrefix(q.base, path+"/") {
			return q
		}
	}
	return nil
}

// judgeArrival gives the rule that moving what from names to the place to would break: by the name itself, or by what the moved
// directory holds. The caller holds moves alone.
func (w *worker) judgeArrival(from, to place) *rule {
	if q := w.judge(to); q != nil {
		return q
	}
	if w.foreign {
		return w.judgeForeignLink(to)
	}
	bits, _ := w.known(to.name)
	if bits&isPart == 0 && len(w.rules.globs) == 0 {
		return nil
	}
	j := judgement{w, to.dir, string(w.pathOf(to.dir)), nil}
	name := string(bare(to.name))
	if bits&isPart != 0 {
		for _, q := range j.part(name) {
			if q.name.Git && q.at == 0 && w.statBare(from) == 0 && w.born.has(identity(&w.st)) {
				continue
			}
			if brings(from.dir, string(bare(from.name)), q.after()) {
				return q.rule
			}
		}
	}
	full := join(j.path, name)
	if q := w.rules.leadsTo(full); q != nil && (w.statBare(from) != 0 || w.isKind(unix.S_IFLNK)) {
		return q
	}
	return w.bringsMatch(from, full)
}

// brings says whether dir/name contains rest, or a symbolic link on the way to it.
func brings(dir int, name string, rest []string) bool {
	cur, err := unix.Openat(dir, name, openHere, 0)
	if err != nil {
		return false // the rename itself will fail the same way
	}
	for i := 0; ; i++ {
		var st unix.Stat_t
		err = unix.Fstat(cur, &st)
		if err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK || i == len(rest) {
			unix.Close(cur)
			return true
		}
		next, err := unix.Openat(cur, rest[i], openHere, 0)
		unix.Close(cur)
		if err != nil {
			return err != unix.ENOENT && err != unix.ENOTDIR
		}
		cur = next
	}
}

// maxLooked bounds the search of a moved directory for what a pattern would match, in entries. A larger one is refused.
const maxLooked = 20000

// bringsMatch gives the pattern that something inside from would match once from is moved to path.
func (w *worker) bringsMatch(from place, path string) *rule {
	var ask []*rule
	src := join(string(w.pathOf(from.dir)), string(bare(from.name)))
	for _, q := range w.rules.globs {
		below := q.glob.MayMatchBelow(path) || q.foldGl.MayMatchBelow(path)
		if below && !(q.steady && strings.HasPrefix(path, q.base+"/") && strings.HasPrefix(src, q.base+"/")) {
			ask = append(ask, q)
		}
	}
	if len(ask) == 0 || w.statBare(from) != 0 || !w.isKind(unix.S_IFDIR) {
		return nil
	}
	left := maxLooked
	return searchTree(from.dir, string(bare(from.name)), path, ask, &left)
}

// searchTree looks for what any of ask matches in the directory dir/name, as if it stood at path. What it cannot read counts as a
// match, as does a symbolic link where a match could lie below.
func searchTree(dir int, name, path string, ask []*rule, left *int) *rule {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return ask[0]
	}
	defer unix.Close(fd)
	names, ok := readDir(fd, *left)
	if *left -= len(names); !ok || *left < 0 {
		return ask[0]
	}
	for _, n := range names {
		full := join(path, n.name)
		for _, q := range ask {
			if q.matches(full) || q.matchesFolded(full) {
				return q
			}
			if n.link && (q.base == full || strings.HasPrefix(q.base, full+"/")) {
				return q
			}
		}
		if n.dir {
			if q := searchTree(fd, n.name, full, ask, left); q != nil {
				return q
			}
		}
	}
	return nil
}

type dirEntry struct {
	name              string
	dir, link, socket bool
}

// readDir lists a directory; ok is false when it has more than limit entries or cannot be read.
func readDir(fd, limit int) (list []dirEntry, ok bool) {
	ok = true
	err := dirent.Visit(fd, func(name []byte, typ byte) bool {
		e := dirEntry{name: string(name), dir: typ == unix.DT_DIR, link: typ == unix.DT_LNK, socket: typ == unix.DT_SOCK}
		if typ == unix.DT_UNKNOWN {
			var st unix.Stat_t
			ok = unix.Fstatat(fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
			is := st.Mode & unix.S_IFMT
			e.dir, e.link, e.socket = is == unix.S_IFDIR, is == unix.S_IFLNK, is == unix.S_IFSOCK
		}
		list = append(list, e)
		ok = ok && len(list) <= limit
		return ok
	})
	if err != nil || !ok {
		return nil, false
	}
	return list, true
}
