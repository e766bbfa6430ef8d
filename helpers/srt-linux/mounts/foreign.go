package mounts

import (
	"errors"
	"os"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/mountinfo"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// An Identity is which file a path led to.
type Identity struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// Identify gives the identities of the steps of v in their order, without following a link on the way. It is asked before bubblewrap
// mounts by path, so that Foreign can tell whether the path led there then.
func Identify(v *view.View) ([]Identity, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fault("/", err)
	}
	defer unix.Close(root)
	steps := v.Steps()
	ids := make([]Identity, len(steps))
	for i, s := range steps {
		fd, err := resolve(root, s.Path)
		if err != nil {
			return nil, fault(s.Path, err)
		}
		ids[i], err = identify(fd)
		unix.Close(fd)
		if err != nil {
			return nil, fault(s.Path, err)
		}
	}
	return ids, nil
}

func identify(fd int) (Identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return Identity{uint64(st.Dev), st.Ino}, err //nolint:unconvert // the width differs between architectures
}

// Foreign are the mounts of a view that bubblewrap made, by path and following links (before its version 0.12), from a tree that still
// receives what the host mounts. This process may change none of them; it can only say that they are not what the view asks for.
type Foreign struct {
	view  *view.View
	steps []view.Step
	ids   []Identity
	lost  map[string]bool
}

// Check says whether the sandbox's mounts are what v asks for. ids are from Identify.
func Check(v *view.View, ids []Identity) (*Foreign, error) {
	f := &Foreign{view: v, steps: v.Steps(), ids: ids, lost: map[string]bool{}}
	if len(ids) != len(f.steps) {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "check the mounts", Detail: "not one identity for each"}
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fault("/", err)
	}
	defer unix.Close(root)
	for i := range f.steps {
		if !f.holds(root, i) {
			return nil, &wire.Fault{Code: wire.CodePolicy, Op: "mount", Path: f.steps[i].Path, Detail: f.changed(root, i),
				Hint: "the path changed while srt started; run the command again"}
		}
	}
	return f, f.writable(root)
}

// holds says whether step i is mounted where it belongs.
func (f *Foreign) holds(root, i int) bool {
	s := f.steps[i]
	if s.Link || s.Path == "/" { // the root is bubblewrap's first mount; links it cannot cover
		return true
	}
	fd, err := resolve(root, s.Path)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Statx_t
	var fs unix.Statfs_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, 0, &st) != nil || st.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 || unix.Fstatfs(fd, &fs) != nil {
		return false
	}
	readOnly := fs.Flags&unix.ST_RDONLY != 0
	id, err := identify(fd)
	switch s.Kind {
	case view.KindWrite:
		return err == nil && id == f.ids[i]
	case view.KindHide: // bubblewrap's empty file or directory
		return err == nil && id != f.ids[i] && readOnly && fs.Type == unix.TMPFS_MAGIC
	}
	return err == nil && id == f.ids[i] && readOnly
}

// changed says why step i does not hold.
func (f *Foreign) changed(root, i int) string {
	fd, err := resolve(root, f.steps[i].Path)
	if err == nil {
		err = noLink(fd, f.steps[i].Path)
		unix.Close(fd)
	}
	if err != nil {
		return cause(err)
	}
	return "what bubblewrap mounted is another than the plan saw"
}

// writable looks for mounts that the command could write to and the view does not say so: one that the host made since, which arrives in
// here as the host made it.
func (f *Foreign) writable(root int) error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fault("/proc/self/mountinfo", err)
	}
	for m, err := range mountinfo.All(string(table)) {
		if err != nil {
			return fault("/proc/self/mountinfo", err)
		}
		if !m.ReadOnly && !ownMount(m.Point) && !mayWrite(f.view, f.steps, m.Point) && within(root, m) {
			return &wire.Fault{Code: wire.CodePolicy, Op: "run the sandbox", Path: m.Point,
				Detail: "mounted outside while the command ran, and the command could write to it: bubblewrap made the mounts here, and passes such on",
				Hint:   "mount it before srt starts, or let the sandbox make its own mounts (srt doctor says how)"}
		}
	}
	return nil
}

// mayWrite says whether v, whose steps are given, leaves path writable.
func mayWrite(v *view.View, steps []view.Step, path string) bool {
	may := v.Unrestricted
	for _, s := range steps { // the deepest comes last
		if view.Within(path, s.Path) {
			may = s.Kind == view.KindWrite
		}
	}
	return may
}

// ownMount says whether the sandbox has its own mounts at path.
func ownMount(path string) bool {
	return view.Within(path, "/dev") || view.Within(path, "/proc")
}

// within says whether the caller, who has the command's rights, gets to m and can write to something there.
func within(root int, m mountinfo.Mount) bool {
	fd, err := resolve(root, m.Point)
	if err != nil { // the command can take descriptors from this process by its limit: that is no way past it
		return !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP)
	}
	defer unix.Close(fd)
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st) == nil && st.Mask&unix.STATX_MNT_ID != 0 && st.Mnt_id != m.ID {
		return false // something covers it
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0 {
		return false
	}
	want := uint32(unix.W_OK)
	if isDir(fd) {
		want = unix.X_OK
	}
	return unix.Faccessat2(fd, "", want, unix.AT_EMPTY_PATH|unix.AT_EACCESS) == nil
}

// Watch looks after the mounts for as long as the command runs, on a thread of its own. It tells once of every protection that the host
// took away, by replacing or removing what it covered, and returns when the command could write where the view does not say so, or when
// mounts cannot be watched: then the caller ends the sandbox. proc is as for Guard.
func (f *Foreign) Watch(proc int, lost func(view.Target)) error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	mi, err := unix.Openat(proc, "thread-self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(mi)
	for {
		for i, s := range f.steps {
			if s.Kind != view.KindWrite && !f.lost[s.Path] && !f.holds(root, i) {
				f.lost[s.Path] = true
				lost(*s.Target)
			}
		}
		if err := f.writable(root); err != nil {
			return err
		}
		p := []unix.PollFd{{Fd: int32(mi), Events: unix.POLLPRI}}
		if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
			return err
		}
	}
}
