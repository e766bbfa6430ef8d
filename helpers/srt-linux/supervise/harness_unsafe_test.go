package supervise

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func pathPointer(s string) unsafe.Pointer {
	b, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	return unsafe.Pointer(b)
}

// clearRestart takes SA_RESTART off the handler that the Go runtime installed.
func clearRestart(s unix.Signal) {
	var act [4]uint64 // handler, flags, restorer, mask
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&act)), 8, 0, 0)
	const restart = 0x10000000
	act[1] &^= restart
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}

// upLoopback brings lo up in the command's network namespace. The test's init does it, which owns the namespace.
func upLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var req struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(req.name[:], "lo")
	req.flags = unix.IFF_UP | unix.IFF_RUNNING
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req))); e != 0 {
		return e
	}
	return nil
}

// loadFilter loads a filter with a listener into this thread.
func loadFilter(f []unix.SockFilter) (listener int, e unix.Errno) {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flagNewListener|flagWaitKillable, uintptr(unsafe.Pointer(&prog)))
	return int(fd), e
}
