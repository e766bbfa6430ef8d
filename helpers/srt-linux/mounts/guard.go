package mounts

import (
	"time"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// Guard re-attaches protected and hidden files that the host replaced: renaming over a mount point outside (git config, sed -i, an
// editor's save) silently takes the mount away in here. It needs CAP_SYS_ADMIN over this mount namespace, runs on a thread of its
// own for as long as the command does, and returns only when mountinfo cannot be watched: then the caller ends the sandbox. It sees what
// happened since Verify.
func (a *Applied) Guard() error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	defer unix.Close(a.events)
	entry.Timers(entry.Exact)
	moment := unix.NsecToTimespec(int64(200 * time.Microsecond))
	for {
		p := []unix.PollFd{{Fd: int32(a.events), Events: unix.POLLPRI}}
		if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
			return err
		}
		for range 500 { // the new file may appear a moment after the old one went
			if a.restore(root) {
				break
			}
			_ = unix.Nanosleep(&moment, nil)
		}
	}
}

// Guarded says whether there is anything for Guard to do: nothing when somebody else made the mounts.
func (a *Applied) Guarded() bool { return a.view != nil && len(a.view.ReadOnly)+len(a.view.Hide) > 0 }

// restore looks at every protected path once and reports whether all that exist carry their mount.
func (a *Applied) restore(root int) bool {
	whole := true
	for _, t := range a.view.ReadOnly {
		whole = a.restoreOne(root, t, cloneReadOnly) && whole
	}
	for _, t := range a.view.Hide {
		whole = a.restoreOne(root, t, a.blank.source) && whole
	}
	return whole
}

func (a *Applied) restoreOne(root int, t view.Target, source func(int) (int, error)) bool {
	fd, err := resolve(root, t.Path)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, 0, &st) != nil || st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
		return true
	}
	return coverAt(fd, source) == nil // fails on the old, already unlinked file: the event precedes the end of the rename
}

// Reveal makes path writable, which has just been created in a directory that is read-only in the view. The caller's thread holds
// CAP_SYS_ADMIN over this mount namespace.
func Reveal(path string) error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	fd, err := resolve(root, path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := noLink(fd, path); err != nil {
		return err
	}
	m, err := cloneOne(fd)
	if err != nil {
		return err
	}
	defer unix.Close(m)
	if err := setAttr(m, false, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY, Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
		return err
	}
	return attach(m, fd)
}
