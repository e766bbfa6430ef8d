package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// Options are what a View does not say.
type Options struct {
	Self     string // path of the srt-linux binary, shown read-only as wire.LinuxRelay
	Terminal string // host path of the terminal on stdin, shown as /dev/console; "" for none
}

// Applied is a view that was made: what the guard and the supervisor need of it later.
type Applied struct {
	view    *view.View
	blank   blank
	steps   []view.Step // until Verify
	parents parents
	events  int // mountinfo, from Verify on
	// CreateOnce has, in the order of View.CreateOnce, a writable view of the parent directory that is attached nowhere.
	CreateOnce []int
}

type step struct {
	view.Step
	source
	alone bool // no other step has this path
}

// A source is what a write or reopen step shows.
type source struct {
	clone int    // the tree, detached
	under int    // write: the same directory as seen below the writable mount, where the tree is read-only
	text  string // of a link: where it leads
}

var noSource = source{clone: -1, under: -1}

// Apply makes the view and enters its working directory. The order is the point: propagation off, clones of what stays writable or
// is re-opened while the tree is untouched, the whole tree read-only, then attach top-down by path, freeze the throw-away file
// systems, and enter the working directory again by path, because a kept one still sees through ".." what the mounts cover.
// The caller runs single-threaded with umask 0 and drops its capabilities afterwards. Errors are *wire.Fault.
func Apply(v *view.View, o Options) (*Applied, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fault("/", err)
	}
	defer unix.Close(root) // the first one; a hidden root is replaced below
	if err := setAttr(root, true, unix.MountAttr{Propagation: unix.MS_PRIVATE}); err != nil {
		return nil, fault("/", fmt.Errorf("private propagation: %w", err))
	}
	rootWritable := v.WritableRoot()
	kernel, carries, err := hostMounts(v, rootWritable)
	if err != nil {
		return nil, fault("/proc/self/mountinfo", err)
	}
	a := &Applied{view: v, parents: parents{target: -1, under: -1, still: -1}}
	a.steps = slices.DeleteFunc(v.Steps(), func(s view.Step) bool { // the root itself cannot be covered: it stays writable, or is replaced
		return s.Path == "/" && (s.Kind == view.KindWrite || s.Kind == view.KindHide)
	})
	sources, err := clones(root, a.steps)
	if err != nil {
		return nil, err
	}
	if a.CreateOnce, err = parentClones(root, v.CreateOnce); err != nil {
		return nil, err
	}
	dev, err := openDev(root, o)
	if err != nil {
		return nil, fault("/dev", err)
	}
	attr := uint64(unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if rootWritable {
		attr &^= unix.MOUNT_ATTR_RDONLY
	}
	if err := setAttr(root, true, unix.MountAttr{Attr_set: attr}); err != nil {
		return nil, fault("/", fmt.Errorf("read-only root: %w", err))
	}
	newRoot := -1
	if hidesRoot(v) {
		if newRoot, err = emptyRoot(root); err != nil {
			return nil, fault("/", err)
		}
		defer unix.Close(newRoot)
		root = newRoot
	}
	if a.blank, err = dev.attach(root); err != nil {
		return nil, fault("/dev", err)
	}
	h := newHider(v, a.blank, newRoot, &a.parents)
	h.byName = newRoot < 0 && !carries && len(v.ReadOnly) >= manyFiles
	for i, planned := range a.steps {
		s := step{planned, noSource, a.alone(i)}
		if shows(planned) {
			s.source, sources = sources[0], sources[1:]
		}
		if err := h.apply(root, s); err != nil {
			return nil, fault(s.Path, err)
		}
	}
	a.parents.stir()
	if err := h.freeze(); err != nil {
		return nil, fault("hidden directories", err)
	}
	if newRoot >= 0 {
		if err := pivot(newRoot); err != nil {
			return nil, fault("/", err)
		}
	}
	if err := coverKernelFS(root, kernel); err != nil {
		return nil, err
	}
	if err := ownIncludes(root, v); err != nil {
		return nil, err
	}
	return a, enter(v.Cwd)
}

// covers says whether Verify looks at step i. Of two on one path the second is on top.
func (a *Applied) covers(i int) bool {
	return a.steps[i].Kind >= view.KindReadOnly && (i+1 == len(a.steps) || a.steps[i+1].Path != a.steps[i].Path)
}

func (a *Applied) alone(i int) bool {
	p := a.steps[i].Path
	return (i == 0 || a.steps[i-1].Path != p) && (i+1 == len(a.steps) || a.steps[i+1].Path != p)
}

// shows says whether a step has a source.
func shows(s view.Step) bool { return s.Kind == view.KindWrite || s.Kind == view.KindReopen }

// clones takes the sources of all steps that have one, in their order.
func clones(root int, steps []view.Step) (sources []source, err error) {
	for _, s := range steps {
		if !shows(s) {
			continue
		}
		src := noSource
		if s.Link && s.Kind == view.KindReopen {
			src.text, err = readLink(root, s.Path)
		} else {
			src.clone, src.under, err = detached(root, s.Path)
		}
		if err != nil {
			return nil, fault(s.Path, err)
		}
		sources = append(sources, src)
	}
	return sources, nil
}

// detached gives a clone of the tree at p, and p as it is below what will be attached there.
func detached(root int, p string) (clone, under int, err error) {
	if under, err = resolve(root, p); err != nil {
		return -1, -1, err
	}
	if err = noLink(under, p); err != nil {
		return -1, -1, err
	}
	if clone, err = cloneTree(under); err != nil {
		return -1, -1, fmt.Errorf("clone: %w", err)
	}
	return clone, under, nil
}

func readLink(root int, p string) (string, error) {
	fd, err := resolve(root, p)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var b [unix.PathMax]byte
	n, err := unix.Readlinkat(fd, "", b[:])
	return string(b[:max(n, 0)]), err
}

func parentClones(root int, once []view.Target) ([]int, error) {
	fds := make([]int, 0, len(once))
	for _, t := range once {
		dir := t.Path[:max(strings.LastIndexByte(t.Path, '/'), 1)]
		fd, err := resolve(root, dir)
		if err != nil {
			return nil, fault(dir, err)
		}
		if err := noLink(fd, dir); err != nil {
			return nil, fault(dir, err)
		}
		c, err := cloneTree(fd) // not cloneOne: what is mounted below must not be uncovered, so the kernel forbids that
		unix.Close(fd)
		if err != nil {
			return nil, fault(dir, fmt.Errorf("clone: %w", err))
		}
		if err := setAttr(c, true, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
			return nil, fault(dir, err)
		}
		fds = append(fds, c)
	}
	return fds, nil
}

// enter changes to dir by its path in the finished view.
func enter(dir string) error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fault("/", err)
	}
	defer unix.Close(root)
	fd, err := resolve(root, dir)
	if err == nil {
		defer unix.Close(fd)
		if err = noLink(fd, dir); err == nil {
			err = unix.Fchdir(fd)
		}
	}
	if err != nil {
		return &wire.Fault{Code: wire.CodePolicy, Op: "enter the working directory", Path: dir, Detail: cause(err),
			Hint: "run from a directory that the policy lets the command enter, or re-open it with filesystem.allowRead"}
	}
	return nil
}

func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		if pe.Err == unix.ELOOP {
			return "a symbolic link stands where the plan saw none"
		}
		return pe.Err.Error()
	}
	return err.Error()
}

func fault(path string, err error) *wire.Fault {
	f := &wire.Fault{Code: wire.CodeUnsupported, Op: "mount", Path: path, Detail: cause(err)}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP):
		f.Code, f.Hint = wire.CodePolicy, "the path changed while srt started; run the command again"
	case errors.Is(err, unix.EMFILE):
		f.Hint = "raise the hard limit of open files (ulimit -Hn): a writable or re-opened path takes two while srt starts"
	case (errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)) && entry.AppArmor(): // a root caller: others were asked before
		f.Detail += ", as AppArmor forbids it to what bubblewrap starts"
		f.Hint = probe.LetInitMount("/usr/bin/bwrap")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		f.Hint = "run srt doctor: it names what on this machine forbids mounts in a user namespace"
	}
	return f
}
