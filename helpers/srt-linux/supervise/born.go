package supervise

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Which directories the run made itself: every one of them went through mkdir here, so they are remembered as they are made. A birth
// time later than the start would say nearly the same without memory, but overlayfs gives an old directory a new one when it is copied
// up, network file systems take it from another machine's clock, some have none, and a clock that was set back before the run makes
// old directories young. Here it only tells an inode number that was used again apart.

// bornMax bounds one of two generations of memory. What is forgotten counts as having existed: its rules hold.
const bornMax = 1 << 15

type identityKey struct {
	major, minor uint32
	ino          uint64
	btime        int64 // ns; 0 where the file system has none
}

func identity(st *unix.Statx_t) identityKey {
	k := identityKey{major: st.Dev_major, minor: st.Dev_minor, ino: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		k.btime = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return k
}

type born struct {
	mu       sync.Mutex
	now, old map[identityKey]struct{}
}

func (b *born) add(k identityKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil {
		b.now = map[identityKey]struct{}{}
	}
	if len(b.now) >= bornMax {
		b.now, b.old = map[identityKey]struct{}{}, b.now
	}
	b.now[k] = struct{}{}
}

func (b *born) has(k identityKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.now[k]; ok {
		return true
	}
	_, ok := b.old[k]
	return ok
}

// mayLeave notes that a name came into being that the look for leftovers at the end is about: a directory, or a name that rules or that
// look mention (also as what a renamed directory carries along: it got its name here too).
func (w *worker) mayLeave(p place) {
	if w.left.Load() {
		return
	}
	if bits, _ := w.known(p.name); bits != 0 {
		w.left.Store(true)
	}
}

// MayHaveLeft says whether pathrule.Leftovers could find anything. It counts once Serve is over.
func (s *Supervisor) MayHaveLeft() bool { return s.left.Load() }

// made says whether the run made the directory up levels above dir.
func (w *worker) made(dir, up int) bool {
	at := w.above(up)
	return at != nil && statx(dir, at, unix.AT_SYMLINK_NOFOLLOW, &w.st) == 0 && w.born.has(identity(&w.st))
}
