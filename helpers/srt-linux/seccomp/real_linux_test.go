package seccomp

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The filters on this machine's kernel: the test binary runs itself, confines one thread and tries calls for real.

const childEnv = "SECCOMP_TEST_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		child(spec)
		return
	}
	os.Exit(m.Run())
}

// try is one real call. Its arguments are such that it does nothing when it gets through.
type try struct {
	name string
	call func() error
}

func raw(nr uintptr, a ...uintptr) func() error {
	return func() error {
		var v [6]uintptr
		copy(v[:], a)
		r, _, e := unix.RawSyscall6(nr, v[0], v[1], v[2], v[3], v[4], v[5])
		if e != 0 {
			return e
		}
		if nr == unix.SYS_SOCKET {
			unix.Close(int(r))
		}
		return nil
	}
}

func pair(typ int) func() error {
	return func() error {
		fds, err := unix.Socketpair(unix.AF_UNIX, typ, 0)
		if err == nil {
			unix.Close(fds[0])
			unix.Close(fds[1])
		}
		return err
	}
}

const badPointer = 8 // in the first page: EFAULT

func tries() []try {
	dir, err := os.MkdirTemp("", "filter")
	if err != nil {
		panic(err)
	}
	cwd := uintptr(0xffffff9c)
	return []try{
		{"socket unix stream", raw(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC)},
		{"socket unix stream, upper half set", raw(unix.SYS_SOCKET, 1<<32|unix.AF_UNIX, unix.SOCK_STREAM)},
		{"socket unix dgram", raw(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC)},
		{"socket unix raw", raw(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_RAW)},
		{"pair unix stream", pair(unix.SOCK_STREAM | unix.SOCK_CLOEXEC)},
		{"pair unix seqpacket", pair(unix.SOCK_SEQPACKET)},
		{"pair unix dgram", pair(unix.SOCK_DGRAM | unix.SOCK_NONBLOCK)},
		{"socket inet", raw(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)},
		{"socket netlink route", raw(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)},
		{"socket netlink diag", raw(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG)},
		{"socket alg", raw(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET)},
		{"interfaces", func() error { _, err := net.Interfaces(); return err }},
		{"connect", raw(unix.SYS_CONNECT, ^uintptr(0), badPointer, 16)},
		{"bind", raw(unix.SYS_BIND, ^uintptr(0), badPointer, 16)},
		{"io_uring_setup", raw(unix.SYS_IO_URING_SETUP, 1, badPointer)},
		{"unshare fs", raw(unix.SYS_UNSHARE, unix.CLONE_FS)},
		{"unshare user", func() error { return exec.Command("unshare", "--user", "true").Run() }},
		{"clone3", raw(unix.SYS_CLONE3, badPointer, 8)},
		{"setns", raw(unix.SYS_SETNS, ^uintptr(0), 0)},
		{"mount", raw(unix.SYS_MOUNT, badPointer, badPointer, badPointer)},
		{"umount2", raw(unix.SYS_UMOUNT2, badPointer, 0x1000)},
		{"fsopen", raw(unix.SYS_FSOPEN, badPointer, 0x1000)},
		{"open_tree", raw(unix.SYS_OPEN_TREE, cwd, badPointer, 0x1000)},
		{"open_tree_attr", raw(unix.SYS_OPEN_TREE_ATTR, cwd, badPointer, 0x1000)},
		{"a call of the future", raw(1000)},
		{"keyctl", raw(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, uintptr(0xfffffffd), 0)},
		{"ioctl TIOCSTI", raw(unix.SYS_IOCTL, ^uintptr(0), unix.TIOCSTI, badPointer)},
		{"ioctl TCGETS", raw(unix.SYS_IOCTL, ^uintptr(0), unix.TCGETS, badPointer)},
		{"bpf", raw(unix.SYS_BPF, 0, badPointer, 0)},
		{"userfaultfd", raw(unix.SYS_USERFAULTFD, 0x40000000)},
		{"a second listener", func() error {
			_, err := loadFilter([]unix.SockFilter{{Code: 0x06, K: 0x7fff0000}}, true)
			return err
		}},
		{"a filter of one's own", func() error {
			_, err := loadFilter([]unix.SockFilter{{Code: 0x06, K: 0x7fff0000}}, false)
			return err
		}},
		{"openat, creating", func() error {
			fd, err := unix.Open(filepath.Join(dir, "f"), unix.O_CREAT|unix.O_WRONLY, 0o600)
			unix.Close(fd)
			return err
		}},
		{"openat, reading", func() error {
			fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
			unix.Close(fd)
			return err
		}},
		{"openat2", raw(unix.SYS_OPENAT2, cwd, badPointer, badPointer, 24)},
		{"mkdirat", raw(unix.SYS_MKDIRAT, cwd, badPointer, 0o700)},
		{"renameat2", raw(unix.SYS_RENAMEAT2, cwd, badPointer, cwd, badPointer, 0)},
		{"linkat", raw(unix.SYS_LINKAT, cwd, badPointer, cwd, badPointer, 0)},
		{"symlinkat", raw(unix.SYS_SYMLINKAT, badPointer, cwd, badPointer)},
		{"exec", func() error { return exec.Command("/bin/sh", "-c", "exit 0").Run() }},
		{"trace a child", traceChild},
		{"clean up", func() error { return os.RemoveAll(dir) }},
	}
}

func traceChild() error {
	c := exec.Command("/bin/true")
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return err
	}
	_ = c.Wait() // the stop at exec
	return unix.PtraceDetach(c.Process.Pid)
}

// results is what a child prints: the error number of each try (0 for success, -1 for a failure without one) and the calls notified.
type results struct {
	Errno    map[string]int
	Notified []string
}

// child confines a thread as spec says (the name of a variant, or "nothing") and tries.
func child(spec string) {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(2) // a thread in a raw call keeps its slot, and the supervisor below answers it from another
	var mu sync.Mutex
	out := results{Errno: map[string]int{}}
	ts := tries()
	if spec != "nothing" {
		p, err := Program(variantCalled(spec))
		if err != nil {
			panic(err)
		}
		listen := strings.HasPrefix(spec, "supervised") || strings.HasPrefix(spec, "explain")
		l, err := loadFilter(p, listen)
		if err != nil {
			panic(err)
		}
		if listen {
			go func() {
				for answer(l, func(nr int) bool {
					mu.Lock()
					defer mu.Unlock()
					name := CallName(nr)
					if !slices.Contains(out.Notified, name) {
						out.Notified = append(out.Notified, name)
					}
					return slices.Contains([]string{"open", "openat", "connect", "bind", "mkdirat"}, name)
				}) == nil {
				}
				panic("the supervisor of the test ended") // or the thread would wait for ever
			}()
		}
	}
	if os.Getenv("SECCOMP_TEST_X32") != "" {
		callX32()
	}
	for _, t := range ts {
		err := t.call()
		e, isErrno := err.(unix.Errno)
		switch {
		case err == nil:
			out.Errno[t.name] = 0
		case isErrno:
			out.Errno[t.name] = int(e)
		default:
			out.Errno[t.name] = -1
		}
	}
	mu.Lock()
	slices.Sort(out.Notified)
	b, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
	os.Exit(0)
}

func variantCalled(name string) Options {
	for _, o := range variants() {
		if o.Name() == name {
			return o
		}
	}
	panic("no variant " + name)
}

func runChild(t *testing.T, spec string, env ...string) (results, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, self)
	c.Env = append(append(os.Environ(), childEnv+"="+spec, "TMPDIR="+t.TempDir()), env...)
	c.Stderr = os.Stderr
	b, err := c.Output()
	var r results
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}
