package mounts

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// hider applies steps and makes hidden paths. A hidden path is covered by a blank; a directory with something re-opened inside, by a
// tmpfs of its own in which the way there stands as 0111 directories: walkable, not listable.
type hider struct {
	blank    blank
	parents  *parents
	byName   bool           // protected files may be covered by their name
	open     map[string]int // hidden directory with a way inside → its tmpfs, still writable
	inside   []string       // what is attached inside hidden directories
	walkable []int          // directories of a way, to become 0111
}

// newHider takes the tmpfs that stands for a hidden root, or -1.
func newHider(v *view.View, b blank, newRoot int, p *parents) *hider {
	h := &hider{blank: b, parents: p, open: map[string]int{}}
	if newRoot >= 0 {
		h.open["/"] = newRoot
		h.walkable = append(h.walkable, newRoot)
	}
	for _, l := range [][]view.Target{v.Write, v.Reopen} {
		for _, t := range l {
			h.inside = append(h.inside, t.Path)
		}
	}
	return h
}

func (h *hider) apply(root int, s step) error {
	if s.Kind == view.KindReopen && s.Link {
		return h.relink(root, s)
	}
	if s.Kind == view.KindReadOnly {
		return h.readOnly(root, s)
	}
	t, err := resolve(root, s.Path)
	if err != nil && s.clone >= 0 { // inside a hidden directory: make the way to it
		t, err = h.way(s.Path, !isDir(s.clone))
	}
	if err != nil {
		return err
	}
	defer unix.Close(t)
	switch s.Kind {
	case view.KindWrite:
		defer unix.Close(s.clone)
		w := writable{s.Path, s.under, -1}
		if h.byName {
			w.still = lay(s.under, t)
		}
		h.parents.writable = append(h.parents.writable, w)
		if err := setAttr(s.clone, true, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
			return err
		}
		return attach(s.clone, t)
	case view.KindReopen:
		defer unix.Close(s.clone)
		unix.Close(s.under)
		if err := setAttr(s.clone, true, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
			return err
		}
		return attach(s.clone, t)
	case view.KindHide:
		return h.hide(t, s.Path)
	}
	return fmt.Errorf("unknown mount step %d (a bug, please report)", s.Kind)
}

// readOnly covers p with a read-only clone of itself, taken from the view below the writable mount that holds it: there the tree is
// read-only already, and the mount carries no children (a clone from the writable mount would walk all that were attached so far).
// Both are named in a directory that is open, one system call each: Verify sees when they were not the same.
func (h *hider) readOnly(root int, s step) error {
	p := s.Path
	if err := h.parents.enter(root, path.Dir(p)); err != nil {
		return err
	}
	name := path.Base(p)
	if h.parents.under < 0 {
		return coverSelf(root, p)
	}
	if h.parents.still >= 0 && s.alone && !s.Dir && !s.Link && bind(h.parents.name.of(name), h.parents.whole.of(p)) == nil {
		return nil
	}
	m, err := unix.OpenTree(h.parents.under, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(m)
	return unix.MoveMount(m, "", h.parents.target, name, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// coverSelf is readOnly where no writable mount of ours holds p: the whole tree is writable.
func coverSelf(root int, p string) error {
	t, err := resolve(root, p)
	if err != nil {
		return err
	}
	defer unix.Close(t)
	return coverAt(t, cloneReadOnly)
}

// coverAt attaches at t what from makes of it.
func coverAt(t int, from func(target int) (int, error)) error {
	m, err := from(t)
	if err != nil {
		return err
	}
	defer unix.Close(m)
	return attach(m, t)
}

func (h *hider) hasInside(dir string) bool {
	for _, q := range h.inside {
		if strings.HasPrefix(q, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

func (h *hider) hide(t int, p string) error {
	if isDir(t) && h.hasInside(p) {
		m, err := newFS("tmpfs", locked, option{"mode", "0700"}, option{"size", "64k"}, option{"nr_inodes", "4096"})
		if err != nil {
			return err
		}
		h.open[p] = m
		return attach(m, t)
	}
	if err := noLink(t, p); err != nil {
		return err
	}
	return coverAt(t, h.blank.source)
}

// relink makes a symbolic link again that a hidden directory covers, so that what is re-opened behind it is found by that name too.
func (h *hider) relink(root int, s step) error {
	at, err := h.way(path.Dir(s.Path), false)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(s.text, at, path.Base(s.Path)); err != nil && err != unix.EEXIST {
		return err
	}
	h.walkable = append(h.walkable, at)
	return nil
}

// way makes the directories to p, or to the file p, from the nearest hidden directory at or above it, and opens the end of it.
func (h *hider) way(p string, file bool) (int, error) {
	top := p
	for h.open[top] == 0 {
		if top == "/" {
			return -1, unix.ENOENT
		}
		top = path.Dir(top)
	}
	dir, err := unix.Openat(h.open[top], ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	parts := strings.Split(strings.TrimPrefix(p[len(top):], "/"), "/")
	for i, name := range parts {
		if name == "" {
			break // the hidden directory itself
		}
		h.walkable = append(h.walkable, dir)
		if file && i == len(parts)-1 {
			f, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return -1, fmt.Errorf("make %q: %w", name, err)
			}
			unix.Close(f)
		} else if err := unix.Mkdirat(dir, name, 0o700); err != nil && err != unix.EEXIST {
			return -1, fmt.Errorf("make %q: %w", name, err)
		}
		if dir, err = unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
			return -1, err
		}
	}
	return dir, nil
}

func (h *hider) freeze() error {
	for _, d := range h.walkable {
		if err := unix.Fchmodat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(d), 0o111, 0); err != nil {
			return err
		}
	}
	for _, m := range h.open {
		if err := setAttr(m, false, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	return nil
}
