package mounts

import (
	"cmp"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// parents is one directory of the view at a time, open twice: target is where it is in the view, under the same directory below the
// writable mount that shows it, read-only and without mounts of ours; -1 where no such mount does.
type parents struct {
	writable      []step // those that were attached
	dir           string
	target, under int
}

// enter opens dir, unless it is open already: thousands of protected files mostly lie in few directories.
func (p *parents) enter(root int, dir string) error {
	if p.target >= 0 && p.dir == dir {
		return nil
	}
	p.leave()
	target, err := resolve(root, dir)
	if err != nil {
		return err
	}
	p.dir, p.target = dir, target
	if err := noLink(target, dir); err != nil {
		return err
	}
	for i := len(p.writable) - 1; i >= 0; i-- {
		w := p.writable[i]
		if !view.Within(dir, w.Path) {
			continue
		}
		if p.under, err = resolve(w.under, dir[len(w.Path):]); err != nil {
			return err
		}
		if !sameFile(p.under, target) {
			return errReplaced
		}
		return nil
	}
	return nil
}

func (p *parents) leave() {
	for _, fd := range []*int{&p.target, &p.under} {
		if *fd >= 0 {
			unix.Close(*fd)
		}
		*fd = -1
	}
}

var errReplaced = fmt.Errorf("it was replaced while it was mounted: %w", unix.ENOENT)

// Verify says whether every protected and hidden path is covered, and by itself. It is called once, when no more mounts are to be made
// and before the command starts: from here on Guard sees what the host replaces. proc is a descriptor of the /proc of the caller's own
// PID namespace.
func (a *Applied) Verify(proc int) (err error) {
	if a.events, err = unix.Openat(proc, "thread-self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fault("/proc/self/mountinfo", err)
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fault("/", err)
	}
	defer unix.Close(root)
	if err := a.verifyAll(root); err != nil {
		return err
	}
	for _, w := range a.parents.writable {
		unix.Close(w.under)
	}
	a.covered, a.parents.writable = nil, nil
	return nil
}

// manySteps are so many that a second thread pays.
const manySteps = 200

func (a *Applied) verifyAll(root int) error {
	if len(a.covered) < manySteps {
		return verifySome(root, a.parents.writable, a.covered)
	}
	half := len(a.covered) / 2
	second := make(chan error, 1)
	go func() { second <- verifySome(root, a.parents.writable, a.covered[half:]) }()
	first := verifySome(root, a.parents.writable, a.covered[:half])
	return cmp.Or(first, <-second)
}

func verifySome(root int, writable []step, covered []view.Step) error {
	p := parents{writable: writable, target: -1, under: -1}
	defer p.leave()
	for _, s := range covered {
		if s.Path == "/" {
			continue // there is no name for it to be replaced by
		}
		if err := p.enter(root, path.Dir(s.Path)); err != nil {
			return fault(s.Path, err)
		}
		if err := p.verify(s); err != nil {
			return fault(s.Path, err)
		}
	}
	return nil
}

// verify looks at one path of the directory that is open.
func (p *parents) verify(s view.Step) error {
	name := path.Base(s.Path)
	var here unix.Statx_t
	if err := unix.Statx(p.target, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_INO, &here); err != nil {
		return err
	}
	if here.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return errReplaced
	}
	if s.Kind != view.KindReadOnly || p.under < 0 {
		return nil
	}
	var below unix.Stat_t
	if err := unix.Fstatat(p.under, name, &below, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT); err != nil {
		return err
	}
	if below.Ino != here.Ino || below.Dev != unix.Mkdev(here.Dev_major, here.Dev_minor) {
		return errReplaced
	}
	return nil
}
