//go:build linux || darwin

package oneshot

import (
	"fmt"
	"os"
	"syscall"

	"github.com/srt-dev/srt/core/wire"
)

// suffix of programs.
const suffix = ""

// trusted judges a file or the directory that holds it.
func trusted(path string, info os.FileInfo, binary bool) error {
	refuse := func(detail, hint string) error {
		return &wire.Fault{Code: wire.CodePolicy, Op: "trust", Path: path, Detail: detail, Hint: hint}
	}
	mode := info.Mode()
	switch {
	case binary && !mode.IsRegular():
		return refuse("not a plain file", "install srt again")
	case !binary && !mode.IsDir():
		return refuse("not a directory", "install srt again")
	case binary && mode&(os.ModeSetuid|os.ModeSetgid) != 0:
		return refuse("set-uid or set-gid", fmt.Sprintf("chmod ug-s %s", path))
	case mode.Perm()&0o022 != 0:
		return refuse("others may write to it", fmt.Sprintf("chmod go-w %s", path))
	case binary && mode.Perm()&0o111 == 0:
		return refuse("not executable", fmt.Sprintf("chmod a+x %s", path))
	}
	if uid, ok := owner(info); ok && uid != 0 && uid != uint32(os.Geteuid()) {
		return refuse(fmt.Sprintf("belongs to user %d, who is neither root nor you", uid), "install srt as root or as yourself")
	}
	return nil
}

func owner(info os.FileInfo) (uid uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
