package fileplan

import (
	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/pathrule"
)

// largeDir is the size in bytes, as stat gives it, from which looking up the protected names costs less than listing a directory: some
// 500 entries.
const largeDir = 12 << 10

// named is an entry that was looked up.
type named struct {
	name string
	kind pathrule.Kind
}

// Find implements pathrule.Finder.
func (h *hostFS) Find(path string, names []string, dirs bool, visit func(name []byte, kind pathrule.Kind)) error {
	return h.inDir(path, func(dir int) error {
		found, all := lookUp(dir, names, dirs, largeDir)
		if !all {
			return h.list(dir, visit)
		}
		for _, e := range found {
			visit([]byte(e.name), e.kind)
		}
		return nil
	})
}

// lookUp gives the entries of a large directory with these names. all is false when it is not large, or when, with dirs, it may have
// directories of other names. A directory's link count tells how many it has (find(1) relies on that, too), on file systems that keep it.
func lookUp(dir int, names []string, dirs bool, large int64) (found []named, all bool) {
	var st unix.Stat_t
	if unix.Fstat(dir, &st) != nil || st.Size < large || dirs && (st.Nlink < 2 || !countsDirs(dir)) {
		return nil, false
	}
	left := int(st.Nlink) - 2
	for _, name := range names {
		switch err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT); err {
		case nil:
			found = append(found, named{name, kindOf(st.Mode)})
			if kindOf(st.Mode) == pathrule.Dir {
				left--
			}
		case unix.ENOENT:
		default:
			return nil, false
		}
	}
	return found, !dirs || left == 0
}

// countsDirs says whether the link count of a directory is 2 and one for each directory in it. (ext4 gives 1 when they are too many.)
func countsDirs(dir int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(dir, &fs) != nil {
		return false
	}
	switch fs.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
