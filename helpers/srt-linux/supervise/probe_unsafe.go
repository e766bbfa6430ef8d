package supervise

import (
	"runtime"
	"unsafe"

	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// Probe tries everything that the supervisor needs from the kernel, in a thread that ends afterwards. The error is a *wire.Fault.
func Probe() error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread, with its filter, ends here
		result <- probe()
	}()
	return <-result
}

func unsupported(what, detail string) error {
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "supervise the command", Detail: what + ": " + detail,
		Hint: "use a kernel of 5.19 or later, or set enableWeakerNestedSandbox: unix sockets are refused then and missing protected paths are only checked after the run"}
}

func probe() error {
	if _, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}); err != nil {
		return unsupported("openat2", err.Error())
	}
	if _, e := pidfdGetfd(-1, 0); e != unix.EBADF {
		return unsupported("pidfd_getfd", e.Error())
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return unsupported("no-new-privs", err.Error())
	}
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0x7fff0000} // SECCOMP_RET_ALLOW
	prog := unix.SockFprog{Len: 1, Filter: &allow}
	load := func(flags uintptr) (int, errno) {
		fd, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
		return int(fd), e
	}
	fd, e := load(flagNewListener | flagWaitKillable)
	switch e {
	case 0:
	case unix.EBUSY:
		f := unsupported("seccomp user notification", "a listener is already there (a container runtime, or another sandbox around this one)").(*wire.Fault)
		f.Hint = "run srt outside of it, or set enableWeakerNestedSandbox: unix sockets are refused then and missing protected paths are only checked after the run"
		return f
	case unix.EINVAL:
		return unsupported("seccomp user notification", "the kernel has no SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (5.19)")
	default:
		return unsupported("seccomp user notification", e.Error())
	}
	defer unix.Close(fd)
	// An unknown flag is EINVAL; a known one gets as far as looking for the call, which is not there.
	if e := sendFd(fd, &addFd{ID: 1, Flags: addFdSend, SrcFd: uint32(fd)}); e != unix.ENOENT {
		return unsupported("seccomp user notification", "the kernel cannot hand over a descriptor with the answer (5.14): "+e.Error())
	}
	return nil
}
