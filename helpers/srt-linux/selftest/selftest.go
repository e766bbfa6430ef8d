// Package selftest attacks a sandbox from the inside, as the command of `srt doctor`: each protection is tried for real and must hold.
// It runs behind the fence and must never be run outside, where its attacks would work.
package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// A Stage is what the checker prepared outside.
type Stage struct {
	Allowed  string `json:"allowed"`  // a writable directory; holds a directory "repo" and a socket "host.sock" that outside listens on
	Outside  string `json:"outside"`  // a directory that is not writable; holds a FIFO "pipe"
	Hidden   string `json:"hidden"`   // a read-denied file
	Port     int    `json:"port"`     // TCP port of the host's loopback that outside listens on
	Abstract string `json:"abstract"` // abstract socket that outside listens on
	Pid      int    `json:"pid"`      // process outside
}

// Main runs every test of the stage in args[0] (JSON) and prints the results as a JSON array of wire.CheckItem.
func Main(args []string) int {
	var s Stage
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &s) != nil {
		fmt.Fprintln(os.Stderr, "srt: error: selftest is started by srt doctor only")
		return 125
	}
	var items []wire.CheckItem
	for _, t := range tests {
		detail, held := t.run(s)
		item := wire.CheckItem{Name: t.name, State: wire.CheckPass, Detail: detail}
		switch {
		case held:
		case t.weak != "":
			item.State, item.Fix = wire.CheckWeak, t.weak
		default:
			item.State, item.Fix = wire.CheckFail, "do not rely on srt here; please report this with the output of srt doctor"
		}
		items = append(items, item)
	}
	if err := json.NewEncoder(os.Stdout).Encode(items); err != nil {
		return 125
	}
	return 0
}

type test struct {
	name string
	run  func(Stage) (detail string, held bool)
	weak string // when set: it need not hold, and this is what to do
}

var tests = []test{
	{name: "writing where allowed", run: func(s Stage) (string, bool) { return works("create a file", create(s.Allowed+"/file")) }},
	{name: "writing elsewhere", run: func(s Stage) (string, bool) { return refused("create a file", create(s.Outside+"/file")) }},
	{name: "named pipes elsewhere", run: func(s Stage) (string, bool) {
		return refused("open one for writing", openFor(s.Outside+"/pipe", unix.O_RDWR))
	}, weak: "use a kernel with Landlock (CONFIG_SECURITY_LANDLOCK, and landlock in lsm=): what reads a FIFO outside could be written to"},
	{name: "reading a denied file", run: func(s Stage) (string, bool) { return refused("open it", openFor(s.Hidden, unix.O_RDONLY)) }},
	{name: "a protected name that is missing", run: func(s Stage) (string, bool) { return refused("create .bashrc", create(s.Allowed+"/.bashrc")) }},
	{name: "a protected directory that is missing", run: func(s Stage) (string, bool) {
		return refused("create .vscode", unix.Mkdir(s.Allowed+"/.vscode", 0o755))
	}},
	{name: "the host's network", run: func(s Stage) (string, bool) { return refused("connect to loopback", connectTCP(s.Port)) }},
	{name: "the sandbox's proxy", run: func(Stage) (string, bool) { return works("connect to it", connectTCP(3128)) }},
	{name: "unix sockets of the host", run: func(s Stage) (string, bool) { return refused("connect to one", connectUnix(s.Allowed+"/host.sock")) }},
	{name: "abstract unix sockets of the host", run: func(s Stage) (string, bool) { return refused("connect to one", connectUnix("@"+s.Abstract)) }},
	{name: "unix sockets of its own", run: func(s Stage) (string, bool) { return works("bind and connect", ownSocket(s.Allowed+"/own.sock")) }},
	{name: "processes outside", run: func(s Stage) (string, bool) { return refused("signal one", unix.Kill(s.Pid, 0)) }},
	{name: "capabilities", run: func(Stage) (string, bool) { return status("CapPrm", "CapEff", "CapBnd", "CapAmb", "CapInh") }},
	{name: "privileges through exec", run: func(Stage) (string, bool) { return statusIs("NoNewPrivs", "1") }},
	{name: "system call filter", run: func(Stage) (string, bool) { return statusIs("Seccomp", "2") }},
	{name: "new user namespaces", run: func(Stage) (string, bool) { return refused("unshare", unix.Unshare(unix.CLONE_NEWUSER)) }},
	{name: "mounts", run: func(Stage) (string, bool) { return refused("mount", unix.Mount("none", "/tmp", "tmpfs", 0, "")) }},
	{name: "io_uring", run: func(Stage) (string, bool) { return refused("io_uring_setup", call(unix.SYS_IO_URING_SETUP, 1)) }},
	{name: "bpf", run: func(Stage) (string, bool) { return refused("bpf", call(unix.SYS_BPF, 0)) }},
	{name: "keyrings", run: func(Stage) (string, bool) { return refused("keyctl", call(unix.SYS_KEYCTL, 0)) }},
	{name: "kernel settings", run: func(Stage) (string, bool) {
		return refused("open /proc/sys/kernel/core_pattern for writing", openFor("/proc/sys/kernel/core_pattern", unix.O_WRONLY))
	}},
	{name: "a private temporary directory", run: func(Stage) (string, bool) { return works("create a file", create(wire.LinuxTmpDir+"/file")) }},
}

func refused(what string, err error) (string, bool) {
	if err == nil {
		return what + ": it worked", false
	}
	return what + ": " + err.Error(), true
}

func works(what string, err error) (string, bool) {
	if err != nil {
		return what + ": " + err.Error(), false
	}
	return what + ": works", true
}

func create(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func openFor(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func connectTCP(port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

func connectUnix(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

func ownSocket(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	if err := unix.Listen(fd, 1); err != nil {
		return err
	}
	return connectUnix(path)
}

func call(nr, arg uintptr) error {
	_, _, e := unix.Syscall(nr, arg, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// statusField gives one value of /proc/self/status.
func statusField(key string) (string, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(v), nil
		}
	}
	return "", errors.New("/proc/self/status has no " + key)
}

// status holds when every one of the sets is empty.
func status(sets ...string) (string, bool) {
	for _, k := range sets {
		v, err := statusField(k)
		if err != nil {
			return err.Error(), false
		}
		if n, err := strconv.ParseUint(v, 16, 64); err != nil || n != 0 {
			return k + " is " + v, false
		}
	}
	return "none, in any set", true
}

func statusIs(key, want string) (string, bool) {
	v, err := statusField(key)
	if err != nil {
		return err.Error(), false
	}
	return key + " is " + v, v == want
}
