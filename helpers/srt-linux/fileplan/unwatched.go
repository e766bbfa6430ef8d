package fileplan

import (
	"fmt"
	"slices"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// Unwatched is what a run without a supervisor (enableWeakerNestedSandbox) is checked for afterwards: names that must not come into
// being were not refused, and a protected name could go with a directory above it.
type Unwatched struct {
	view    *view.View
	missing []view.Name   // paths that were not there
	covered []view.Target // what carried a mount
	known   map[string]bool
}

// NotePresent looks, in the sandbox's mounts and before the command starts, at which of the view's names are there.
func NotePresent(v *view.View) *Unwatched {
	u := &Unwatched{view: v, known: map[string]bool{}}
	for _, n := range v.Names {
		if n.Kind != view.NamePath {
			continue
		}
		u.known[n.Path] = true
		if !exists(n.Path) {
			u.missing = append(u.missing, n)
		}
	}
	for _, list := range [][]view.Target{v.ReadOnly, v.Hide} {
		for _, t := range list {
			if covered, there := mounted(t.Path); covered && there {
				u.covered = append(u.covered, t)
			}
		}
	}
	return u
}

// mounted says whether something is mounted on path itself, and whether it exists.
func mounted(path string) (covered, there bool) {
	var st unix.Statx_t
	err := retry(func() error { return unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &st) })
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, err == nil
}

// Broken says, one line each, which promises the run broke. It is called in the sandbox's mounts once nothing runs there any more.
func (u *Unwatched) Broken() []string {
	var lines []string
	for _, n := range u.missing {
		if exists(n.Path) {
			lines = append(lines, fmt.Sprintf("%q: made by this command, which %q refuses and nothing could prevent here", n.Path, n.Rule))
		}
	}
	for _, t := range u.covered {
		if covered, there := mounted(t.Path); there && !covered {
			lines = append(lines, fmt.Sprintf("%q: put in another's place by this command, which %q refuses and nothing could prevent here", t.Path, t.Rule))
		}
	}
	fs, left := newHostFS(u.view.StartedNs), maxUnwatched
	for _, n := range u.view.Names {
		if n.Kind != view.NameGlob {
			continue
		}
		g, err := pathrule.ParseGlob(n.Path)
		if err != nil {
			continue // the supervisor refuses such a view, and so did the plan
		}
		u.search(fs, g, n, g.LiteralBase(), &left, &lines)
	}
	if left <= 0 {
		lines = append(lines, fmt.Sprintf("looked at %d files only for what patterns refuse: there may be more", maxUnwatched))
	}
	return slices.Compact(lines)
}

// maxUnwatched bounds the search for what patterns match, in directory entries.
const maxUnwatched = 100_000

func (u *Unwatched) search(fs *hostFS, g *pathrule.Glob, n view.Name, dir string, left *int, lines *[]string) {
	type found struct {
		path string
		kind pathrule.Kind
	}
	var list []found
	_ = fs.ReadDir(dir, func(raw []byte, kind pathrule.Kind) { // what cannot be listed now could not be written before
		if *left--; *left >= 0 {
			list = append(list, found{joined(dir, string(raw)), kind})
		}
	})
	for _, f := range list {
		switch {
		case u.known[f.path]: // matched at the start
		case g.Match(f.path):
			*lines = append(*lines, fmt.Sprintf("%q: made by this command, which %q refuses and nothing could prevent here", f.path, n.Rule))
		case f.kind == pathrule.Dir && g.MayMatchBelow(f.path):
			u.search(fs, g, n, f.path, left, lines)
		}
	}
}

func joined(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

func exists(path string) bool {
	var st unix.Stat_t
	return retry(func() error { return unix.Lstat(path, &st) }) == nil
}
