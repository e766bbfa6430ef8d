package mounts

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// nodes are the device nodes of the private /dev: none of them stores anything or reaches hardware.
var nodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

var devLinks = [][2]string{
	{"/proc/self/fd", "fd"},
	{"/proc/self/fd/0", "stdin"},
	{"/proc/self/fd/1", "stdout"},
	{"/proc/self/fd/2", "stderr"},
	{"pts/ptmx", "ptmx"},
}

// A devTree is a private /dev: a tmpfs, clones of the nodes, an own devpts, an own shm, the run's TMPDIR and the relay binary.
type devTree struct {
	files map[string]int // path below /dev → detached clone of a node or file
}

// openDev clones what the private /dev shows. It runs before the tree becomes nodev: a clone keeps its flags.
func openDev(root int, o Options) (*devTree, error) {
	d := &devTree{files: map[string]int{}}
	sources := map[string]string{relayName(): o.Self}
	for _, n := range nodes {
		sources[n] = "/dev/" + n
	}
	if o.Terminal != "" { // ttyname(3) finds the terminal here, as its own /dev/pts is not shown
		sources["console"] = o.Terminal
	}
	for name, src := range sources {
		fd, err := resolve(root, src)
		if err != nil {
			return nil, err
		}
		c, err := cloneOne(fd)
		unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("clone %q: %w", src, err)
		}
		d.files[name] = c
	}
	return d, setAttr(d.files[relayName()], false, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
}

func relayName() string { return strings.TrimPrefix(wire.LinuxRelay, "/dev/") }

func (d *devTree) attach(root int) (blank, error) {
	dev, err := newFS("tmpfs", locked, option{"mode", "0755"}, option{"size", "64k"})
	if err != nil {
		return blank{}, err
	}
	defer unix.Close(dev)
	t, err := resolve(root, "/dev")
	if err != nil {
		return blank{}, err
	}
	defer unix.Close(t)
	if err := attach(dev, t); err != nil {
		return blank{}, err
	}
	if err := unix.Mkdirat(dev, path.Dir(relayName()), 0o755); err != nil {
		return blank{}, err
	}
	for name, clone := range d.files {
		f, err := unix.Openat(dev, name, unix.O_CREAT|unix.O_EXCL|unix.O_RDONLY|unix.O_CLOEXEC, 0o444)
		if err != nil {
			return blank{}, fmt.Errorf("make %q: %w", name, err)
		}
		err = attach(clone, f)
		unix.Close(f)
		unix.Close(clone)
		if err != nil {
			return blank{}, fmt.Errorf("attach %q: %w", name, err)
		}
	}
	for _, l := range devLinks {
		if err := unix.Symlinkat(l[0], dev, l[1]); err != nil {
			return blank{}, err
		}
	}
	for _, s := range []struct {
		name, fs string
		attr     int
		opts     []option
	}{
		{"pts", "devpts", unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC, []option{{"newinstance", ""}, {"ptmxmode", "0666"}, {"mode", "620"}}},
		{"shm", "tmpfs", unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, []option{{"mode", "1777"}}},
		// exec is allowed in TMPDIR: compilers and test runners build and run there. Its size is tmpfs's own limit, half of memory.
		{strings.TrimPrefix(wire.LinuxTmpDir, "/dev/"), "tmpfs", unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, []option{{"mode", "0700"}}},
	} {
		if err := mountDir(dev, s.name, s.fs, s.attr, s.opts); err != nil {
			return blank{}, err
		}
	}
	b, err := makeBlank(dev)
	if err != nil {
		return blank{}, err
	}
	return b, setAttr(dev, false, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// A blank covers hidden paths: an empty file of mode 0000 and an empty directory of mode 0111 (walkable, as "../" through it must work) in
// the private /dev, cloned read-only for each.
// They live there because before Linux 6.15 only an attached mount can be cloned.
type blank struct{ file, dir int }

func makeBlank(dev int) (b blank, err error) {
	const file, dir = "srt/hidden", "srt/hidden.d"
	if b.file, err = unix.Openat(dev, file, unix.O_CREAT|unix.O_EXCL|unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return b, err
	}
	unix.Close(b.file)
	if err = unix.Mkdirat(dev, dir, 0o111); err != nil {
		return b, err
	}
	if b.file, err = unix.Openat(dev, file, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return b, err
	}
	b.dir, err = unix.Openat(dev, dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	return b, err
}

// source gives a detached blank of the kind that fits fd.
func (b blank) source(fd int) (int, error) {
	src := b.file
	if isDir(fd) {
		src = b.dir
	}
	m, err := cloneOne(src)
	if err != nil {
		return -1, err
	}
	return m, setAttr(m, false, unix.MountAttr{Attr_set: locked | unix.MOUNT_ATTR_RDONLY})
}

func mountDir(dev int, name, fs string, attr int, opts []option) error {
	if err := unix.Mkdirat(dev, name, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	m, err := newFS(fs, attr, opts...)
	if err != nil {
		return err
	}
	return attachAt(dev, m, name)
}
