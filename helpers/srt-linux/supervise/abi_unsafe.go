package supervise

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kernel ABI of seccomp user notification (linux/seccomp.h).

type seccompData struct {
	Nr   int32
	Arch uint32
	IP   uint64
	Args [6]uint64
}

type notification struct {
	ID    uint64
	Pid   uint32 // a thread's id, in the init's PID namespace
	Flags uint32
	Data  seccompData
}

type response struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

type addFd struct {
	ID         uint64
	Flags      uint32
	SrcFd      uint32
	NewFd      uint32
	NewFdFlags uint32
}

const (
	ioctlRecv     = 0xc0502100
	ioctlSend     = 0xc0182101
	ioctlIDValid  = 0x40082102
	ioctlAddFd    = 0x40182103
	ioctlSetFlags = 0x40082104

	addFdSend    = 2 // install and answer in one step (kernel 5.14)
	respContinue = 1 // let the caller's call go on: only where nothing depends on it
	syncWakeUp   = 1 // kernel 6.6; harmless where unknown

	pidfdThread = unix.O_EXCL // kernel 6.9

	flagNewListener  = 1 << 3
	flagWaitKillable = 1 << 5
)

// errno is what system calls answer; 0 is success.
type errno = unix.Errno

// eRestartSys makes the kernel turn the answer into EINTR or into a restart of the call, as natively.
const eRestartSys = errno(512)

// receive waits for the next call. The kernel wants the buffer zeroed.
func receive(listener int, n *notification) errno {
	*n = notification{}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), ioctlRecv, uintptr(unsafe.Pointer(n)))
	return e
}

func send(listener int, r *response) errno {
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(listener), ioctlSend, uintptr(unsafe.Pointer(r)))
	return e
}

func idValid(listener int, id *uint64) bool {
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(listener), ioctlIDValid, uintptr(unsafe.Pointer(id)))
	return e == 0
}

// sendFd waits until the caller has taken the descriptor, which can be long when the caller gets no processor time.
func sendFd(listener int, a *addFd) errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), ioctlAddFd, uintptr(unsafe.Pointer(a)))
	return e
}

// setCaps changes the calling thread's capabilities; only the low 32 are ever kept.
func setCaps(permitted, effective uint32) errno {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	d[0].Permitted, d[0].Effective = permitted, effective
	_, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&hdr)), uintptr(unsafe.Pointer(&d[0])), 0)
	return e
}

// blockSignals blocks every signal in the calling thread. The kernel waits interruptibly in ADDFD_SEND after it has marked the call
// as answered: a signal in that moment (the Go runtime's own will do) makes the caller's open return 0 without a descriptor.
func blockSignals() errno {
	all := ^uint64(0)
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), 0, 8, 0, 0)
	return e
}

// pollShort waits for events on fd without the Go scheduler knowing: the caller keeps its processor slot, so the time must be short.
func pollShort(fd int, timeout time.Duration) (revents int16, e errno) {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	t := unix.NsecToTimespec(int64(timeout))
	_, _, e = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&t)), 0, 8, 0)
	return p.Revents, e
}

// pollLong waits for events on fd for as long as it takes.
func pollLong(fd int) (revents int16, e errno) {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	_, _, e = unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, 0, 0, 8, 0)
	return p.Revents, e
}
