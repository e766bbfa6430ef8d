package supervise

import (
	"strings"

	"golang.org/x/sys/unix"
)

// With allowNestedUserNamespaces the command may call from a mount namespace or a root directory of its own. Then paths start at its
// root, and the path of a descriptor says nothing: a bind mount gives any directory any name. What is left is the identity of
// directories and the last component, and whatever these do not show to be harmless is refused.

// enter finds out where the caller stands. It must be followed by leave.
func (w *worker) enter() errno {
	w.foreign, w.root = false, -1
	if !w.cfg.NestedNamespaces {
		return 0
	}
	ns, e := w.procLinkText(mntName)
	if e != 0 {
		return e
	}
	same := string(ns) == w.namespace
	root, e := w.procLinkText(rootName)
	if e != 0 {
		return e
	}
	if same && string(root) == "/" {
		return 0
	}
	w.foreign = true
	w.root, e = w.procOpen(rootName, unix.O_PATH|unix.O_DIRECTORY)
	return e
}

func (w *worker) leave() {
	closeFd(w.root)
	w.foreign, w.root = false, -1
}

var (
	mntName  = []byte("ns/mnt\x00")[:6]
	rootName = []byte("root\x00")[:4]
)

// procLinkText reads a link of the caller's /proc directory, into w.mem.
func (w *worker) procLinkText(name []byte) ([]byte, errno) {
	for {
		t, cached, e := w.task()
		if e != 0 {
			return nil, e
		}
		n, e := readlinkat(t.dir, name, w.mem[:pathMax])
		if e = w.privileged(e, func() (e errno) { n, e = readlinkat(t.dir, name, w.mem[:pathMax]); return }); e == 0 {
			return w.mem[:n], 0
		}
		if !cached {
			return nil, e
		}
		t.close()
	}
}

// atRoot says whether dir is the foreign caller's root, above which there is nothing.
func (w *worker) atRoot(dir int) bool {
	if !w.foreign {
		return false
	}
	var a, b unix.Statx_t
	const mask = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID
	if unix.Statx(dir, "", unix.AT_EMPTY_PATH, mask, &a) != nil || unix.Statx(w.root, "", unix.AT_EMPTY_PATH, mask, &b) != nil {
		return true
	}
	return identity(&a) == identity(&b) && a.Mnt_id == b.Mnt_id
}

// judgeForeign is judge for a caller whose paths say nothing.
func (w *worker) judgeForeign(p place) *rule {
	bits, glob := w.known(p.name)
	if glob {
		return w.rules.globs[0]
	}
	if bits&isLast == 0 {
		return nil
	}
	key := foldString(string(bare(p.name)))
	inBorn := w.made(p.dir, 0)
	for _, q := range w.rules.seqs[key] {
		if q.at != len(q.parts)-1 {
			continue
		}
		if free := inBorn && (q.at == 0 || q.at == 1 && q.name.Git); !free {
			return q.rule
		}
	}
	for i := range w.rules.paths {
		if q := &w.rules.paths[i]; strings.HasSuffix(q.key, "/"+key) {
			return q
		}
	}
	return nil
}

// judgeForeignLink is judgeLink, and judges the arrival of directories too.
func (w *worker) judgeForeignLink(p place) *rule {
	bits, _ := w.known(p.name)
	if bits&isPart == 0 {
		return nil
	}
	key := foldString(string(bare(p.name)))
	for _, q := range w.rules.seqs[key] {
		if q.at < len(q.parts)-1 {
			return q.rule
		}
	}
	for i := range w.rules.paths {
		if q := &w.rules.paths[i]; strings.Contains(q.key, "/"+key+"/") {
			return q
		}
	}
	return nil
}

// movesForeign says whether a rename would move a directory that existed before: what it holds cannot be judged.
func (w *worker) movesForeign(p place) bool {
	return w.foreign && w.statBare(p) == 0 && w.isKind(unix.S_IFDIR) && !w.born.has(identity(&w.st))
}
