package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A supervisor as small as a test needs: it refuses every call with EPERM, or lets it go on, and remembers the number.

type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

const (
	ioctlReceive = 0xc0502100
	ioctlSend    = 0xc0182101
	flagContinue = 1
)

// loadFilter puts p on the calling thread alone; listener is -1 unless one was asked for.
func loadFilter(p []unix.SockFilter, listen bool) (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	flags := uintptr(0)
	if listen {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return -1, e
	}
	if !listen {
		return -1, nil
	}
	return int(fd), nil
}

// answer serves one call: judge says whether it may go on. Signals of the Go scheduler
// interrupt both sides: a step is repeated, and a call that was taken back meanwhile (ENOENT) comes again.
func answer(listener int, judge func(nr int) (goOn bool)) error {
	var n notification
	if err := ioctl(listener, ioctlReceive, unsafe.Pointer(&n)); err != nil {
		return err
	}
	if n.id == 0 {
		return nil
	}
	r := response{id: n.id, errno: -int32(unix.EPERM)}
	if judge(int(n.nr)) {
		r = response{id: n.id, flags: flagContinue}
	}
	return ioctl(listener, ioctlSend, unsafe.Pointer(&r))
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		if e == 0 || e == unix.ENOENT {
			return nil
		}
		if e != unix.EINTR {
			return e
		}
	}
}
