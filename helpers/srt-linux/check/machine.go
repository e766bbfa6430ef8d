package check

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/mountinfo"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
	"github.com/srt-dev/srt/helpers/srt-linux/probe"
	"golang.org/x/sys/unix"
)

// oldest is the oldest bubblewrap that has what the command line uses (--as-pid-1 and --cap-add came with 0.4 at the latest).
var oldest = [2]int{0, 4}

// machine says what is here: bubblewrap, and the kernel switches that forbid user namespaces.
func machine(bwrapPath string) []wire.CheckItem {
	path, err := entry.Bwrap(bwrapPath)
	var f *wire.Fault
	if errors.As(err, &f) {
		return []wire.CheckItem{{Name: "bubblewrap", State: wire.CheckFail, Detail: f.Detail, Fix: f.Hint}}
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return []wire.CheckItem{{Name: "bubblewrap", State: wire.CheckFail, Detail: fmt.Sprintf("%s --version: %v", path, err), Fix: entry.InstallHint}}
	}
	text := strings.TrimSpace(string(out))
	item := wire.CheckItem{Name: "bubblewrap", State: wire.CheckPass, Detail: path + ", " + text}
	var major, minor int
	_, _ = fmt.Sscanf(text, "bubblewrap %d.%d", &major, &minor) // 0.0, and refused, when it says something else
	if major < oldest[0] || major == oldest[0] && minor < oldest[1] {
		item.State, item.Detail = wire.CheckFail, item.Detail+" is too old"
		item.Fix = fmt.Sprintf("install bubblewrap %d.%d or newer", oldest[0], oldest[1])
	}
	return []wire.CheckItem{item}
}

// A switchFile is a kernel setting that, at this value, keeps an ordinary user from what a sandbox needs.
type switchFile struct {
	path, value string
	rootToo     bool
	detail, fix string
}

var switches = []switchFile{
	{"/proc/sys/user/max_user_namespaces", "0", true, "user namespaces are switched off (user.max_user_namespaces = 0)",
		"sudo sysctl -w user.max_user_namespaces=10000, and the same in /etc/sysctl.d"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", false, "ordinary users may not make user namespaces (kernel.unprivileged_userns_clone = 0)",
		"sudo sysctl -w kernel.unprivileged_userns_clone=1, and the same in /etc/sysctl.d"},
}

const startOp = "start the sandbox"

// diagnose explains why bubblewrap, at path, did not bring a sandbox up. said is what it wrote on stderr.
func diagnose(path, said string, exit error) *wire.Fault {
	f := &wire.Fault{Code: wire.CodeUnsupported, Op: startOp, Detail: said}
	if said == "" {
		f.Detail = fmt.Sprintf("bubblewrap ended without a word: %v", exit)
	}
	for _, s := range switches {
		b, err := os.ReadFile(s.path)
		if err == nil && strings.TrimSpace(string(b)) == s.value && (s.rootToo || os.Geteuid() != 0) {
			f.Detail, f.Hint = s.detail, s.fix
			return f
		}
	}
	if entry.Restricted() && probe.Refused(said) {
		return probe.NoNamespaces(path, f.Detail)
	}
	if table, err := os.ReadFile("/proc/self/mountinfo"); err == nil && strings.Contains(said, "mount proc") {
		if part := coveredProc(string(table)); part != "" {
			return plan.NoFreshProc(part)
		}
	}
	switch {
	case os.Geteuid() == 0 && !mayMapRoot():
		f.Detail = "root has no CAP_SETFCAP here, so uid 0 cannot be mapped into a user namespace"
		f.Hint = "run srt as an ordinary user, or give the container the capability: docker run --cap-add SETFCAP"
	case inContainer():
		f.Detail += " (in a container)"
		f.Hint = "let the container make namespaces and mount /proc: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined " +
			"--security-opt systempaths=unconfined"
	default:
		f.Hint = "run srt doctor, and report its output"
	}
	return f
}

// coveredProc gives a part of /proc that something is mounted on, "" for none. binfmt_misc, which mounts itself there, hides nothing.
func coveredProc(table string) string {
	for m, err := range mountinfo.All(table) {
		if err == nil && strings.HasPrefix(m.Point, "/proc/") && m.Type != "binfmt_misc" && m.Type != "autofs" {
			return m.Point
		}
	}
	return ""
}

// mayMapRoot says whether this process holds CAP_SETFCAP.
func mayMapRoot() bool {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	return unix.Capget(&h, &d[0]) == nil && d[0].Effective&(1<<unix.CAP_SETFCAP) != 0
}

func inContainer() bool {
	for _, p := range []string{"/.dockerenv", "/run/.containerenv", "/run/host/container-manager"} {
		if unix.Access(p, unix.F_OK) == nil {
			return true
		}
	}
	return false
}
