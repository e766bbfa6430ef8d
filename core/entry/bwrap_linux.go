package entry

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// bwrapDirs are the directories that bwrap is taken from, in this order; never from PATH.
var bwrapDirs = []string{"/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"}

// InstallHint says how to get bubblewrap.
const InstallHint = "install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine)"

// Bwrap finds bubblewrap. chosen is the setting bwrapPath, "" for the system's; it is accepted only when nobody but root can change
// it, because a settings file must not choose what runs outside the sandbox. Faults are CodeUnsupported or CodePolicy.
func Bwrap(chosen string) (string, error) {
	if chosen != "" {
		return chosen, trusted(chosen)
	}
	for _, d := range bwrapDirs {
		p := d + "/bwrap"
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil {
			continue
		}
		return p, notSetuid(p, st.Mode)
	}
	return "", &wire.Fault{Code: wire.CodeUnsupported, Op: "find", Path: "bwrap", Detail: "bubblewrap is not installed", Hint: InstallHint}
}

func notSetuid(p string, mode uint32) error {
	if mode&(unix.S_ISUID|unix.S_ISGID) == 0 {
		return nil
	}
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "use", Path: p, Detail: "it is setuid: its namespaces would belong to root, not to you",
		Hint: "chmod u-s " + p + ", and allow unprivileged user namespaces"}
}

// trusted checks that p and every directory above it belong to root and that only root may write there.
func trusted(p string) error {
	refuse := func(at, why string) error {
		return &wire.Fault{Code: wire.CodePolicy, Op: "use bwrapPath", Path: p, Detail: at + " " + why,
			Hint: "name a bwrap that root owns in directories that root owns, or leave bwrapPath out"}
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return refuse(p, "does not exist")
		}
		return refuse(p, err.Error())
	}
	for at := real; ; at = filepath.Dir(at) {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			return refuse(at, err.Error())
		}
		if st.Uid != 0 {
			return refuse(at, "does not belong to root")
		}
		if st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0 {
			return refuse(at, "may be written by others than root")
		}
		if at == real {
			if err := notSetuid(p, st.Mode); err != nil {
				return err
			}
		}
		if at == "/" {
			return nil
		}
	}
}
