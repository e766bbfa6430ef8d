package supervise

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/srt-dev/srt/helpers/srt-linux/mountinfo"
	"golang.org/x/sys/unix"
)

// The mounts that protect existing paths, read when they are first asked for: few commands do. A directory above one of them must not be
// renamed: the mount would go along, but the name that it protects would be free. (The mount point itself is EBUSY for the kernel.)

type mountList struct {
	mu    sync.Mutex
	fd    int                      // /proc/self/mountinfo, polled for changes
	paths []string                 // mount points of read-only mounts, sorted
	proc  atomic.Pointer[[]string] // where proc file systems are mounted
}

func (m *mountList) open(proc int) (err error) {
	m.fd, err = unix.Openat(proc, "self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return err
}

// read takes the list anew.
func (m *mountList) read() error {
	text := make([]byte, 0, 8<<10) // an ordinary list; every start pays for it
	if _, err := unix.Seek(m.fd, 0, unix.SEEK_SET); err != nil {
		return err
	}
	for {
		text = slices.Grow(text, 4<<10)
		n, err := unix.Read(m.fd, text[len(text):cap(text)])
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		text = text[:len(text)+n]
	}
	m.paths = nil
	var procs []string
	for mount, err := range mountinfo.All(string(text)) {
		if err != nil {
			return err
		}
		if mount.ReadOnly {
			m.paths = append(m.paths, mount.Point)
		}
		if mount.Type == "proc" {
			procs = append(procs, mount.Point)
		}
	}
	slices.Sort(m.paths)
	m.proc.Store(&procs)
	return nil
}

// refresh reads the list when there is none yet or it has changed. The caller holds mu.
func (m *mountList) refresh() error {
	p := []unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLPRI}}
	if n, err := unix.Poll(p, 0); err == nil && n == 0 && m.proc.Load() != nil {
		return nil
	}
	return m.read()
}

// procs gives where proc file systems are mounted, or nil when that cannot be found out.
func (m *mountList) procs() []string {
	if p := m.proc.Load(); p != nil {
		return *p
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc.Load() == nil && m.read() != nil {
		return nil
	}
	return *m.proc.Load()
}

// below gives the first read-only mount point below path, or "". When mounts cannot be read it is path itself.
func (m *mountList) below(path string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refresh() != nil {
		return path
	}
	i, _ := slices.BinarySearch(m.paths, path+"/")
	if i < len(m.paths) && strings.HasPrefix(m.paths[i], path+"/") {
		return m.paths[i]
	}
	return ""
}

// holdsMount says whether a place must not be moved because of a mount below it, and reports it.
func (w *worker) holdsMount(p place) bool {
	dir := w.pathOf(p.dir)
	path := join(string(dir), string(bare(p.name)))
	at := w.mounts.below(path)
	if at == "" && dir != nil {
		return false
	}
	w.violation("file-write", path, w.ruleOf(at))
	return true
}

// onProc says whether a directory lies on a proc file system, or may.
func (m *mountList) onProc(dir []byte) bool {
	procs := m.procs()
	for _, p := range procs {
		if len(dir) >= len(p) && string(dir[:len(p)]) == p && (len(dir) == len(p) || dir[len(p)] == '/') {
			return true
		}
	}
	return procs == nil
}
