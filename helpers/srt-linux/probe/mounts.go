// Package probe finds out what this machine can do, by trying: kernel versions and capability sets are no proof where a security
// module takes a permission away at its use. It must never leave anything behind.
package probe

import (
	"strings"
	"syscall"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// VerbMounts is the verb of srt-linux that TryMounts runs behind.
const VerbMounts = "mountprobe"

// VerbNothing is the verb of srt-linux that does nothing, and succeeds.
const VerbNothing = "nothing"

// InitMayMount says whether a process that bubblewrap, at path, starts can make mounts. It asks by making one, and only where a security
// module is known to take that away, because every start would pay for it. The error, a *wire.Fault, says that there can be no sandbox.
func InitMayMount(path, self string) (bool, error) {
	if !entry.Restricted() {
		return true, nil
	}
	var said [2]int
	if err := unix.Pipe2(said[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return false, err
	}
	defer unix.Close(said[0])
	status, err := run(path, uintptr(said[1]), "--unshare-user", "--uid", "0", "--gid", "0", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN",
		"--die-with-parent", "--dev-bind", "/", "/", "--", self, VerbMounts)
	unix.Close(said[1])
	switch {
	case err != nil:
		return false, err
	case status.ExitStatus() == statusMayNot || status.ExitStatus() == 0:
		return status.ExitStatus() == 0, nil
	}
	var text [4096]byte
	n, _ := unix.Read(said[0], text[:])
	return false, failed(path, strings.TrimSpace(string(text[:max(n, 0)])))
}

func failed(path, said string) *wire.Fault {
	if Refused(said) {
		return NoNamespaces(path, said)
	}
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "start the sandbox", Path: path, Detail: said, Hint: "run srt doctor, and report its output"}
}

// none stands for a descriptor that the new process does not have.
const none = ^uintptr(0)

// statusMayNot is how VerbMounts ends where mounts cannot be made. bubblewrap's own failures are 1.
const statusMayNot = 125

// FreshProc says whether bubblewrap, at path, can mount a /proc for a new PID namespace. It asks by mounting one and running self.
func FreshProc(path, self string) bool {
	status, err := run(path, none, "--unshare-user", "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--proc", "/proc", "--", self, VerbNothing)
	return err == nil && status == 0
}

// run runs path to its end, with no standard stream but stderr: the Go program inside opens /dev/null for the others, so it needs devices.
func run(path string, stderr uintptr, args ...string) (status syscall.WaitStatus, err error) {
	pid, err := syscall.ForkExec(path, append([]string{path}, args...), &syscall.ProcAttr{Env: entry.Env, Files: []uintptr{none, none, stderr},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return 0, &wire.Fault{Code: wire.CodeUnsupported, Op: "start", Path: path, Detail: err.Error()}
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	return status, err
}

// TryMounts makes an anonymous mount, clones a tree and changes the clone: what the init does. Nothing is attached, nothing is left.
func TryMounts() error {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return err
	}
	if _, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	return unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}
