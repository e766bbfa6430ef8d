package supervise

import (
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/srt-dev/srt/core/entry"
	"golang.org/x/sys/unix"
)

const (
	capSysPtrace = 1 << 19
	pathMax      = 4096
)

// eLater is not an answer: the call was parked and is answered later.
const eLater = errno(0xffff)

// A worker is an OS thread of its own: it has its own umask and working directory (CLONE_FS), no effective capability, and takes no
// signals. Its buffers serve one call at a time.
type worker struct {
	*Supervisor
	busy     atomic.Uint64 // odd while a call is being handled
	promoted chan struct{} // gives the lead back

	call    notification
	umask   uint32 // of this thread
	foreign bool   // the caller stands in another mount namespace or root; see foreign.go
	root    int    // its root directory then
	tasks   [taskSlots]task

	a, b pathBuf           // path arguments
	tmp  [pathMax + 8]byte // a directory part with "." behind it
	path [pathMax + 8]byte // where a directory is
	mem  [2 * pathMax]byte // text of /proc files and links
	fold [nameMax + 1]byte

	foldPath [pathMax]byte // inGitDir
	num      [32]byte
	addr     [sockaddrMax]byte
	how      unix.OpenHow
	st       unix.Statx_t
	reply    response
	add      addFd
}

// prepare makes the calling goroutine's thread fit for handling calls. The thread ends with the goroutine.
func (w *worker) prepare() error {
	runtime.LockOSThread()
	entry.Timers(entry.Exact)
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	// DAC must judge as for the command, and opened files must carry no privileged f_cred.
	if e := setCaps(capSysPtrace, 0); e != 0 && setCaps(0, 0) != 0 {
		return e
	}
	if e := blockSignals(); e != 0 {
		return e
	}
	setUmask(0)
	return nil
}

// handle performs the received call and answers it.
func (w *worker) handle() {
	d := &w.call.Data
	modern(d)
	a := &d.Args
	e := w.enter()
	defer w.leave()
	if e != 0 {
		w.answer(e)
		return
	}
	switch d.Nr {
	case unix.SYS_OPENAT:
		var fd int
		if fd, e = w.open(int32(a[0]), a[1], int(int32(a[2])), uint32(a[3])); e == 0 {
			w.answerFd(fd, int(a[2])&unix.O_CLOEXEC != 0)
			return
		}
	case unix.SYS_MKDIRAT:
		e = w.mkdir(int32(a[0]), a[1], uint32(a[2]))
	case unix.SYS_MKNODAT:
		e = w.mknod(int32(a[0]), a[1], uint32(a[2]), a[3])
	case unix.SYS_SYMLINKAT:
		e = w.symlink(a[0], int32(a[1]), a[2])
	case unix.SYS_LINKAT:
		e = w.link(int32(a[0]), a[1], int32(a[2]), a[3], int(int32(a[4])))
	case unix.SYS_RENAMEAT2:
		e = w.rename(int32(a[0]), a[1], int32(a[2]), a[3], uint(uint32(a[4])))
	case unix.SYS_BIND:
		e = w.bind(int32(a[0]), a[1], uint32(a[2]))
	case unix.SYS_CONNECT:
		e = w.connect(int32(a[0]), a[1], uint32(a[2]))
	default:
		e = w.refuseCall(int(d.Nr))
	}
	if e != eLater {
		w.answer(e)
	}
}

func (w *worker) refuseCall(nr int) errno {
	name := "call " + strconv.Itoa(nr)
	if w.cfg.CallName != nil {
		if n := w.cfg.CallName(nr); n != "" {
			name = n
		}
	}
	w.violation("syscall", name, "")
	return unix.EPERM
}

// alive says whether the caller still waits. After it was true, what was read by thread id is the caller's.
func (w *worker) alive() bool { return idValid(w.listener, &w.call.ID) }

func (w *worker) answer(e errno) {
	w.reply = response{ID: w.call.ID, Error: -int32(e)}
	send(w.listener, &w.reply)
}

func (w *worker) letContinue() {
	w.reply = response{ID: w.call.ID, Flags: respContinue}
	send(w.listener, &w.reply)
}

// answerFd gives the caller a copy of fd and the copy's number as its result, in one step.
func (w *worker) answerFd(fd int, cloexec bool) {
	w.add = addFd{ID: w.call.ID, Flags: addFdSend, SrcFd: uint32(fd)}
	if cloexec {
		w.add.NewFdFlags = unix.O_CLOEXEC
	}
	e := sendFd(w.listener, &w.add)
	closeFd(fd)
	if e != 0 {
		w.answer(e) // EMFILE; or nobody waits any more
	}
}

// privileged runs f again with CAP_SYS_PTRACE when the plain try was refused: a caller that made itself non-dumpable before its
// first exec is out of reach otherwise. (Any other is in a user namespace that we own, which is enough.)
func (w *worker) privileged(e errno, f func() errno) errno {
	if (e == unix.EACCES || e == unix.EPERM) && setCaps(capSysPtrace, capSysPtrace) == 0 {
		e = f()
		setCaps(capSysPtrace, 0)
	}
	return e
}

// number formats n with a NUL behind it, in w.num behind what prefix says.
func (w *worker) number(prefix string, n int) []byte {
	b := append(w.num[:0], prefix...)
	b = append(strconv.AppendInt(b, int64(n), 10), 0)
	return b[:len(b)-1]
}
