package entry

import (
	"runtime"
	"slices"
	"strconv"
)

// namespaces makes every namespace that the sandbox needs, dies with srt, and leaves PID 1 to the init.
//
// --uid 0 without --dev: bwrap then makes no second user namespace, in which the init could mount nothing. --cap-drop ALL first:
// for a root caller bwrap 0.8 leaves every capability otherwise.
var namespaces = []string{
	"--unshare-user", "--uid", "0", "--gid", "0",
	"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
	"--as-pid-1", "--die-with-parent",
	"--cap-drop", "ALL",
}

// capabilities of the init in its own user namespace, each with what it is for. The command gets none.
var capabilities = [...][2]string{
	{"CAP_SYS_ADMIN", "mounts, the nested namespaces, the guard over protected files"},
	{"CAP_SETFCAP", "map uid 0 of its user namespace into the command's (Linux 5.12)"},
	{"CAP_NET_BIND_SERVICE", "listen, in its own network namespace, on a mirrored port below 1024"},
	{"CAP_SYS_PTRACE", "read the arguments of supervised calls of a process that made itself non-dumpable"},
}

// Slots is how many goroutines of the init may run at once when its supervisor has work, whatever the machine has: one is idle beside the
// leader, the sentinel and the rest.
const Slots = 4

// Env is the environment of bwrap and the init: nothing of the caller's, whose LD_PRELOAD and the like must not reach them. Callers may not
// change it. Until its supervisor has work the init runs few goroutines at once, each of which costs pages and threads, and a policy of
// thousands of paths must not set off a garbage collection while it starts.
var Env = []string{"PATH=/usr/bin:/bin", "LANG=C", "GOMAXPROCS=" + strconv.Itoa(min(max(runtime.NumCPU(), 2), Slots)), "GOGC=200"}

// Argv is the whole command line: bwrap executes the init, a verb of srt-linux with its arguments, in the new namespaces.
func Argv(bwrap string, init ...string) []string {
	argv := append([]string{bwrap}, namespaces...)
	for _, c := range capabilities {
		argv = append(argv, "--cap-add", c[0])
	}
	return append(append(argv, "--dev-bind", "/", "/", "--proc", "/proc", "--"), init...)
}

// KeepProc changes a line of Argv so that the /proc that is there stays, for a kernel that allows no fresh one.
func KeepProc(argv []string) []string {
	i := slices.Index(argv, "--proc")
	return slices.Delete(slices.Clone(argv), i, i+2)
}
