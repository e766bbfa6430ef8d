package mounts

import (
	"cmp"
	"path"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// parents is one directory of the view at a time, open twice: target is where it is in the view, under the same directory below the
// writable mount that shows it, read-only and without mounts of ours; -1 where no such mount does. Where it can be, it is the working
// directory too, on a mount on which no link is followed; still is not -1 then.
type parents struct {
	writable             []writable // in the order of attaching
	dir                  string
	target, under, still int
	name, whole          cName
}

// writable is one writable mount, and its directory as parents needs it.
type writable struct {
	path  string
	under int // as seen below it
	still int // the same where no link is followed either; -1 for none (still.go)
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
		if !view.Within(dir, w.path) {
			continue
		}
		if p.under, err = resolve(w.under, dir[len(w.path):]); err != nil {
			return err
		}
		if !sameFile(p.under, target) {
			return errReplaced
		}
		if w.still >= 0 {
			return p.stand(w.still, dir[len(w.path):])
		}
		return nil
	}
	return nil
}

func (p *parents) leave() {
	for _, fd := range []*int{&p.target, &p.under, &p.still} {
		if *fd >= 0 {
			unix.Close(*fd)
		}
		*fd = -1
	}
}

// errReplaced is an ENOENT.
var errReplaced error = replaced{}

type replaced struct{}

func (replaced) Error() string { return "it was replaced while it was mounted: " + unix.ENOENT.Error() }
func (replaced) Unwrap() error { return unix.ENOENT }

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
	a.steps, a.parents.writable = nil, nil
	return nil
}

// manySteps are so many that a second thread pays.
const manySteps = 200

func (a *Applied) verifyAll(root int) error {
	if len(a.steps) < manySteps {
		return a.verifySome(root, 0, len(a.steps))
	}
	half := len(a.steps) / 2
	second := make(chan error, 1)
	go func() { second <- a.verifySome(root, half, len(a.steps)) }()
	first := a.verifySome(root, 0, half)
	return cmp.Or(first, <-second)
}

func (a *Applied) verifySome(root, from, to int) error {
	p := parents{writable: a.parents.writable, target: -1, under: -1, still: -1}
	defer p.leave()
	for i := from; i < to; i++ {
		s := a.steps[i]
		if !a.covers(i) || s.Path == "/" { // there is no name for the root to be replaced by
			continue
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
	name := p.name.of(path.Base(s.Path))
	here, mounted, err := look(p.target, name)
	if err != nil {
		return err
	}
	if !mounted {
		return errReplaced
	}
	if s.Kind != view.KindReadOnly || p.under < 0 {
		return nil
	}
	below, _, err := look(p.under, name)
	if err != nil {
		return err
	}
	if below != here {
		return errReplaced
	}
	return nil
}
