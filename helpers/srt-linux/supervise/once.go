package supervise

import (
	"errors"
	"path"
	"sync"

	"golang.org/x/sys/unix"
)

// once are the allowWrite paths that did not exist at the start: each is created at most once, through a writable clone of the mount
// that its parent directory lies on. Everything else about the parent stays read-only.
type once struct {
	mu   sync.Mutex
	left []*onceTarget
}

type onceTarget struct {
	CreateOnceTarget
	name   []byte // NUL-terminated
	parent identityKey
}

func (o *once) add(list []CreateOnceTarget) error {
	for _, t := range list {
		var st unix.Statx_t
		if err := unix.Statx(t.Parent, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
			return err
		}
		name := path.Base(t.Path)
		if name == "/" || name == "." {
			return errors.New("an allowWrite path without a name")
		}
		o.left = append(o.left, &onceTarget{t, append([]byte(name), 0), identity(&st)})
	}
	return nil
}

// match gives the target that a refused creation is about.
func (o *once) match(w *worker, p place) *onceTarget {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.left) == 0 {
		return nil
	}
	name := string(bare(p.name))
	if w.statFd(p.dir) != 0 {
		return nil
	}
	dir := identity(&w.st)
	for _, t := range o.left {
		if string(t.name[:len(t.name)-1]) == name && t.parent == dir {
			return t
		}
	}
	return nil
}

// use performs the one creation. The target is gone afterwards when it succeeded.
func (o *once) use(t *onceTarget, dir bool, create func(parent int, name []byte) errno) errno {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, l := range o.left {
		if l != t {
			continue
		}
		e := create(t.Parent, t.name[:len(t.name)-1])
		if e != 0 {
			return e
		}
		o.left = append(o.left[:i:i], o.left[i+1:]...)
		unix.Close(t.Parent)
		if t.Created != nil && t.Created(dir) != nil {
			return unix.EROFS
		}
		return 0
	}
	return unix.EEXIST // another thread of the command was faster
}

func (o *once) mkdir(w *worker, t *onceTarget, mode uint32) errno {
	return o.use(t, true, func(parent int, name []byte) errno {
		e := mkdirat(parent, name, mode)
		if e == 0 {
			w.left.Store(true)
		}
		if e == 0 && statx(parent, name, unix.AT_SYMLINK_NOFOLLOW, &w.st) == 0 && w.isKind(unix.S_IFDIR) {
			w.born.add(identity(&w.st))
		}
		return e
	})
}
