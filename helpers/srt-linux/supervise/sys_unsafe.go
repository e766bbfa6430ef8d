package supervise

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls on paths in buffers, so that the hot path allocates nothing. A path argument is a slice that is followed by a NUL byte
// in its array (see cstr). Calls that can wait for a disk tell the Go scheduler; the short ones do not.

// cstr is the address of a NUL-terminated path. A slice without a NUL behind it is a bug that must not become a wild path.
func cstr(b []byte) uintptr {
	t := b[:len(b)+1]
	if t[len(b)] != 0 {
		panic("supervise: path without end")
	}
	return uintptr(unsafe.Pointer(&t[0]))
}

func openat2(dir int, path []byte, how *unix.OpenHow) (int, errno) {
	r, _, e := unix.Syscall6(unix.SYS_OPENAT2, uintptr(dir), cstr(path), uintptr(unsafe.Pointer(how)), unix.SizeofOpenHow, 0, 0)
	if e != 0 {
		return -1, e
	}
	return int(r), 0
}

func openat(dir int, path []byte, flags int) (int, errno) {
	r, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), cstr(path), uintptr(flags), 0, 0, 0)
	if e != 0 {
		return -1, e
	}
	return int(r), 0
}

func mkdirat(dir int, path []byte, mode uint32) errno {
	_, _, e := unix.Syscall(unix.SYS_MKDIRAT, uintptr(dir), cstr(path), uintptr(mode))
	return e
}

func mknodat(dir int, path []byte, mode uint32, dev uint64) errno {
	_, _, e := unix.Syscall6(unix.SYS_MKNODAT, uintptr(dir), cstr(path), uintptr(mode), uintptr(dev), 0, 0)
	return e
}

func symlinkat(target []byte, dir int, path []byte) errno {
	_, _, e := unix.Syscall(unix.SYS_SYMLINKAT, cstr(target), uintptr(dir), cstr(path))
	return e
}

func linkat(from int, fromPath []byte, to int, toPath []byte, flags int) errno {
	_, _, e := unix.Syscall6(unix.SYS_LINKAT, uintptr(from), cstr(fromPath), uintptr(to), cstr(toPath), uintptr(flags), 0)
	return e
}

func renameat2(from int, fromPath []byte, to int, toPath []byte, flags uint) errno {
	_, _, e := unix.Syscall6(unix.SYS_RENAMEAT2, uintptr(from), cstr(fromPath), uintptr(to), cstr(toPath), uintptr(flags), 0)
	return e
}

func readlinkat(dir int, path []byte, dst []byte) (int, errno) {
	r, _, e := unix.Syscall6(unix.SYS_READLINKAT, uintptr(dir), cstr(path), uintptr(unsafe.Pointer(&dst[0])), uintptr(len(dst)), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(r), 0
}

func statx(dir int, path []byte, flags int, st *unix.Statx_t) errno {
	_, _, e := unix.Syscall6(unix.SYS_STATX, uintptr(dir), cstr(path), uintptr(flags), unix.STATX_BASIC_STATS|unix.STATX_BTIME,
		uintptr(unsafe.Pointer(st)), 0)
	return e
}

// readMemory copies from another process's memory. The range must not cross a page, or a hole behind it would fail the whole copy.
func readMemory(tid uint32, addr uint64, dst []byte) errno {
	local := unix.Iovec{Base: &dst[0]}
	local.SetLen(len(dst))
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(dst)}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e == 0 && int(n) != len(dst) {
		return unix.EFAULT
	}
	return e
}

func pread(fd int, dst []byte) (int, errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&dst[0])), uintptr(len(dst)), 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(r), 0
}

func setFlags(fd, flags int) errno {
	_, _, e := unix.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_SETFL, uintptr(flags))
	return e
}

func getFlags(fd int) (int, errno) {
	r, _, e := unix.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_GETFL, 0)
	return int(r), e
}

func setUmask(mask uint32) { unix.RawSyscall(unix.SYS_UMASK, uintptr(mask), 0, 0) }

// closeFd closes a descriptor of ours; -1 is no descriptor. The last close of a file can wait for a disk.
func closeFd(fd int) {
	if fd >= 0 {
		unix.Syscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	}
}

func pidfdOpen(tid uint32, flags int) (int, errno) {
	r, _, e := unix.RawSyscall(unix.SYS_PIDFD_OPEN, uintptr(tid), uintptr(flags), 0)
	if e != 0 {
		return -1, e
	}
	return int(r), 0
}

func pidfdGetfd(pidfd int, fd int32) (int, errno) {
	r, _, e := unix.RawSyscall(unix.SYS_PIDFD_GETFD, uintptr(pidfd), uintptr(fd), 0)
	if e != 0 {
		return -1, e
	}
	return int(r), 0
}

// socketCall is bind or connect on a copy of the caller's socket.
func socketCall(nr uintptr, fd int, addr []byte) errno {
	var p unsafe.Pointer
	if len(addr) > 0 {
		p = unsafe.Pointer(&addr[0])
	}
	_, _, e := unix.Syscall(nr, uintptr(fd), uintptr(p), uintptr(len(addr)))
	return e
}

// text is b as a string that must not be kept: it changes with b.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// pause sleeps without the Go scheduler knowing (see pollShort).
func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}
