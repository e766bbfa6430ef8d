package fileplan

import (
	"path"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-linux/mountinfo"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// A tree that is mounted twice (a bind mount, a subvolume beside the whole of its file system) has two paths for every file. What the
// policy denies at one of them it denies at the other.

// overlap says whether two of the mounts show the same files.
func overlap(mounts []mountinfo.Mount) bool {
	byDevice := make(map[string][]string, len(mounts))
	for _, m := range mounts {
		if skippedTypes[m.Type] {
			continue
		}
		for _, root := range byDevice[m.Device] {
			if view.Within(m.Root, root) || view.Within(root, m.Root) {
				return true
			}
		}
		byDevice[m.Device] = append(byDevice[m.Device], m.Root)
	}
	return false
}

// Elsewhere implements pathrule.Elsewhere. The table of mounts says where to look, the files themselves whether it is so.
func (h *hostFS) Elsewhere(p string) (same, below []string) {
	mounts := h.table().mounts
	var on *mountinfo.Mount // what p lies on
	for i := range mounts {
		if m := &mounts[i]; view.Within(p, m.Point) && (on == nil || len(m.Point) >= len(on.Point)) {
			on = m
		}
	}
	if on == nil {
		return nil, nil
	}
	inside := path.Join(on.Root, strings.TrimPrefix(p, on.Point))
	for i := range mounts {
		switch m := &mounts[i]; {
		case m.Device != on.Device || m.Point == on.Point || ownedBySandbox(m.Point):
		case view.Within(inside, m.Root):
			if other := path.Join(m.Point, strings.TrimPrefix(inside, m.Root)); !view.Within(other, p) && leadToOne(p, other, m.Point) {
				same = append(same, other)
			}
		case view.Within(m.Root, inside):
			if shown := path.Join(p, strings.TrimPrefix(m.Root, inside)); !view.Within(m.Point, p) && leadToOne(shown, m.Point, m.Point) {
				below = append(below, m.Point)
			}
		}
	}
	return same, below
}

// leadToOne says whether two paths lead to one file. Where nothing is yet, it looks at the directories above them, up to the mount point
// of b.
func leadToOne(a, b, point string) bool {
	for {
		var x, y unix.Stat_t
		errA := retry(func() error { return unix.Lstat(a, &x) })
		errB := retry(func() error { return unix.Lstat(b, &y) })
		if errA == nil && errB == nil {
			return x.Ino == y.Ino && x.Dev == y.Dev
		}
		if errA == nil || errB == nil || b == point {
			return false
		}
		a, b = path.Dir(a), path.Dir(b)
	}
}
