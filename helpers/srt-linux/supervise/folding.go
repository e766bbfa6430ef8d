package supervise

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Some directories ignore case (ext4 and f2fs with the casefold flag, vfat, exfat, ntfs, cifs): there ".VSCODE" is ".vscode", and in
// those with full Unicode folding so are names with ignorable code points or ligatures in them. Names are looked up folded, always;
// a hit that is not exact counts only where the directory folds.

// foldExpand are the folds of one code point into several ASCII letters.
var foldExpand = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
}

// foldString gives the folded form of a component: at least as coarse as any file system's.
func foldString(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, c := range s {
		if e, ok := foldExpand[c]; ok {
			b.WriteString(e)
			continue
		}
		if unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf, unicode.Mn) {
			continue // ignored, or an accent that decomposition splits off
		}
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) { // the smallest of the orbit stands for all
			if f < c {
				c = f
			}
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// foldInto is foldString for the hot path: into dst, without allocation for ASCII names.
func foldInto(dst []byte, name []byte) []byte {
	dst = dst[:0]
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return append(dst[:0], foldString(string(name))...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// folds says whether dir, or one of the up directories above it, ignores case. What cannot be found out counts as yes.
func (w *worker) folds(dir, up int) bool {
	for i := 0; i <= up; i++ {
		at := w.above(i)
		if at == nil {
			return true
		}
		fd, e := openat(dir, at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
		if e != 0 {
			return true
		}
		yes := foldsFd(fd)
		closeFd(fd)
		if yes {
			return true
		}
	}
	return false
}

func foldsFd(fd int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return true
	}
	switch int64(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.XFS_SUPER_MAGIC,
		unix.NFS_SUPER_MAGIC, unix.RAMFS_MAGIC, unix.PROC_SUPER_MAGIC: // case counts, but for single directories with the flag
		flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
		return err == nil && flags&casefoldFlag != 0
	}
	return true // vfat, exfat, ntfs, cifs, hfs, zfs, FUSE, and whatever is unknown
}

// above is the path from a directory to the n-th one above it, in w.tmp; nil when that is too deep to say.
func (w *worker) above(n int) []byte {
	if n == 0 {
		return dot
	}
	if 3*n >= len(w.tmp) {
		return nil
	}
	b := w.tmp[:0]
	for range n {
		b = append(b, "../"...)
	}
	b = append(b, 0)
	return b[:len(b)-1]
}

const casefoldFlag = 0x40000000 // FS_CASEFOLD_FL
