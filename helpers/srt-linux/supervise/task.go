package supervise

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// taskSlots is how many callers a worker keeps descriptors of.
const taskSlots = 16

// A task holds descriptors of one calling thread. They name the thread itself and not its number: when it is gone they fail, also
// when the number was given to another.
type task struct {
	tid    uint32
	dir    int // O_PATH, /proc/TID: cwd and umask can differ between threads
	status int // -1 until needed
	pidfd  int // -1 until needed
}

func (t *task) close() {
	if t.tid != 0 {
		closeFd(t.dir)
		closeFd(t.status)
		closeFd(t.pidfd)
		*t = task{}
	}
}

// closeTasks forgets every caller.
func (w *worker) closeTasks() {
	for i := range w.tasks {
		w.tasks[i].close()
	}
}

// task gives the entry of the current caller; cached says that it may be out of date.
func (w *worker) task() (t *task, cached bool, e errno) {
	t = &w.tasks[w.call.Pid%taskSlots]
	if t.tid == w.call.Pid {
		return t, true, 0
	}
	t.close()
	dir, e := openat(w.cfg.Proc, w.number("", int(w.call.Pid)), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if e != 0 {
		return nil, false, e
	}
	*t = task{tid: w.call.Pid, dir: dir, status: -1, pidfd: -1}
	return t, false, 0
}

// procOpen opens an entry of the caller's /proc directory.
func (w *worker) procOpen(name []byte, flags int) (fd int, e errno) {
	for {
		t, cached, e := w.task()
		if e != 0 {
			return -1, e
		}
		fd, e := openat(t.dir, name, flags|unix.O_CLOEXEC)
		if e = w.privileged(e, func() (e errno) { fd, e = openat(t.dir, name, flags|unix.O_CLOEXEC); return }); e == 0 {
			return fd, 0
		}
		if !cached {
			return -1, e
		}
		t.close()
	}
}

// readStatus reads the beginning of the caller's /proc status.
func (w *worker) readStatus(dst []byte) ([]byte, errno) {
	for {
		t, cached, e := w.task()
		if e != 0 {
			return nil, e
		}
		if t.status < 0 {
			t.status, e = openat(t.dir, statusName, unix.O_RDONLY|unix.O_CLOEXEC)
		}
		if e == 0 {
			var n int
			if n, e = pread(t.status, dst); e == 0 {
				return dst[:n], 0
			}
		}
		if !cached {
			return nil, e
		}
		t.close()
	}
}

var (
	statusName = []byte("status\x00")[:6]
	cwdName    = []byte("cwd\x00")[:3]
	dot        = []byte(".\x00")[:1]
	empty      = []byte("\x00")[:0]
)

// umaskEnd is how much of /proc/TID/status holds the umask: "Name:\t" with up to 64 escaped bytes, then "Umask:\t0022\n".
const umaskEnd = 160

// takeUmask gives this thread the caller's umask.
func (w *worker) takeUmask() errno {
	b, e := w.readStatus(w.mem[:umaskEnd])
	if e != 0 {
		return e
	}
	i := bytes.Index(b, []byte("\nUmask:\t"))
	if i < 0 || len(b) < i+12 {
		return unix.ESRCH
	}
	mask := uint32(0)
	for _, c := range b[i+8 : i+12] {
		mask = mask<<3 | uint32(c-'0')
	}
	if mask != w.umask {
		setUmask(mask)
		w.umask = mask
	}
	return 0
}

// status gives the last (innermost) number of a line of the caller's status, such as "NStgid:"; 0 when it cannot be read.
func (w *worker) status(key string) int {
	b, e := w.readStatus(w.mem[:])
	if e != 0 {
		return 0
	}
	i := bytes.Index(b, []byte("\n"+key))
	if i < 0 {
		return 0
	}
	line, _, _ := bytes.Cut(b[i+1+len(key):], []byte("\n"))
	f := bytes.Fields(line)
	if len(f) == 0 {
		return 0
	}
	v, _ := strconv.Atoi(string(f[len(f)-1]))
	return v
}

// signals says whether the caller has a signal to take, for calls in which it would be woken by it natively: one of its own, or one of
// its process, which the kernel gives to the first thread when that one can take it. perhaps: one of its process, which could be
// meant for another thread; this one may not have been told, and eRestartSys would then reach the program as it is.
func (w *worker) signals() (own, perhaps bool) {
	b, e := w.readStatus(w.mem[:])
	if e != 0 {
		return false, false
	}
	mask := func(key string) uint64 {
		i := bytes.Index(b, []byte(key))
		if i < 0 || len(b) < i+len(key)+16 {
			return 0
		}
		v, _ := strconv.ParseUint(string(b[i+len(key):i+len(key)+16]), 16, 64)
		return v
	}
	blocked := mask("\nSigBlk:\t")
	shared := mask("\nShdPnd:\t")&^blocked != 0
	first := bytes.Contains(b, fmt.Appendf(nil, "\nTgid:\t%d\n", w.call.Pid))
	return mask("\nSigPnd:\t")&^blocked != 0 || shared && first, shared
}

// takeFd gives a copy of the caller's descriptor n.
func (w *worker) takeFd(n int32) (int, errno) {
	if n < 0 {
		return -1, unix.EBADF
	}
	for {
		t, cached, e := w.task()
		if e != 0 {
			return -1, e
		}
		if t.pidfd < 0 {
			if t.pidfd, e = pidfdOpen(t.tid, pidfdThread); e == unix.EINVAL { // before 6.9: leaders of thread groups only
				t.pidfd, e = pidfdOpen(uint32(w.status("Tgid:")), 0)
			}
		}
		fd := -1
		if e == 0 {
			fd, e = pidfdGetfd(t.pidfd, n)
			e = w.privileged(e, func() (e errno) { fd, e = pidfdGetfd(t.pidfd, n); return })
		}
		if e == 0 || !cached {
			return fd, e
		}
		t.close()
	}
}

// readMem copies from the caller up to len(dst) bytes, fewer when the mapping ends or, with text, behind the first NUL.
func (w *worker) readMem(addr uint64, dst []byte, text bool) (int, errno) {
	const chunk = 256 // most paths are short
	got := 0
	for got < len(dst) {
		at := addr + uint64(got)
		n := min(len(dst)-got, int(4096-at&4095), chunk)
		e := readMemory(w.call.Pid, at, dst[got:got+n])
		e = w.privileged(e, func() errno { return readMemory(w.call.Pid, at, dst[got:got+n]) })
		if e != 0 {
			return got, e
		}
		got += n
		if text && bytes.IndexByte(dst[got-n:got], 0) >= 0 {
			break
		}
	}
	return got, 0
}
