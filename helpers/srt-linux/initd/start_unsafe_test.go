package initd

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The child shares our memory and stack until it executes: the caller must find its own afterwards, whatever became of the child.
func TestStartOfTheCommand(t *testing.T) {
	for path, want := range map[string]int{"/bin/true": 0, "/bin/false": 1, "/nonexistent": 126} {
		t.Run(path, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			n := &nest{pidfd: -1}
			n.path, _ = unix.BytePtrFromString(path)
			n.argv, _ = syscall.SlicePtrFromStrings([]string{path})
			n.envv, _ = syscall.SlicePtrFromStrings(nil)
			if err := unix.Pipe2(n.exec[:], unix.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			// As in fork: no signal may reach the runtime's handlers in the child.
			all := ^uint64(0)
			unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&n.oldMask)), 8, 0, 0)
			pid, e := n.start()
			unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.oldMask)), 0, 8, 0, 0)
			if e != 0 {
				t.Fatal(e)
			}
			var ws unix.WaitStatus
			if got, err := unix.Wait4(int(pid), &ws, 0, nil); err != nil || got != int(pid) || ws.ExitStatus() != want {
				t.Errorf("process %d, %v: exit status %d, want %d", got, err, ws.ExitStatus(), want)
			}
			if _, err := unix.FcntlInt(uintptr(n.pidfd), unix.F_GETFD, 0); err != nil {
				t.Errorf("pidfd %d: %v", n.pidfd, err)
			}
			unix.Close(int(n.pidfd))
			unix.Close(n.exec[1])
			if failed := n.executed(); (failed == unix.ENOENT) != (want == 126) || (failed == 0) == (want == 126) {
				t.Errorf("the command was said to have failed with %v", failed)
			}
		})
	}
}

func TestStartThatTheKernelRefuses(t *testing.T) {
	if pid, e := vfork(unix.CLONE_THREAD, nil); pid != ^uintptr(0)-uintptr(unix.EINVAL)+1 || unix.Errno(e) != unix.EINVAL {
		t.Errorf("pid %#x, %v", pid, unix.Errno(e))
	}
}
