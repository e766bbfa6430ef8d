package entry

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// VerbEnter is the verb of srt-linux that Direct executes in the new namespaces: it reads the LaunchRequest there, plans, answers and
// goes on as the init (package oneshot says on which descriptors).
const VerbEnter = "enter"

// restricted is the switch behind which bubblewrap's children may be without capabilities (Ubuntu's AppArmor label).
const restricted = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// AppArmor says that AppArmor restricts user namespaces on this machine.
func AppArmor() bool {
	on, err := os.ReadFile(restricted)
	return err == nil && bytes.HasPrefix(on, []byte("1"))
}

// Restricted says that a security module may keep bubblewrap's children from mounting: the helper has to find out by trying.
func Restricted() bool {
	return os.Geteuid() != 0 && AppArmor()
}

// covered are parts of /proc that containers mount something over: masked, read-only, or told by a daemon (runc, LXC).
var covered = [...]string{"/proc/sys", "/proc/kcore", "/proc/acpi", "/proc/meminfo"}

// CoveredProc gives a part of /proc that something is mounted over, "" for none. The kernel allows no fresh /proc then, unless it finds a
// whole one elsewhere (mount_too_revealing in its fs/namespace.c); the helper finds out by trying.
func CoveredProc() string {
	for _, p := range covered {
		var st unix.Statx_t
		if unix.Statx(unix.AT_FDCWD, p, unix.AT_SYMLINK_NOFOLLOW, 0, &st) == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
			return p
		}
	}
	return ""
}

// Direct is the command line with which srt itself enters a sandbox of helper, an absolute path that was found by oneshot.Find. It is
// nil where the helper has to have a look first, or has to say why there can be no sandbox: then oneshot.VerbLaunch is the way in.
func Direct(helper string) []string {
	if Restricted() || CoveredProc() != "" {
		return nil
	}
	bwrap, err := Bwrap("")
	if err != nil {
		return nil
	}
	return Argv(bwrap, helper, VerbEnter)
}
