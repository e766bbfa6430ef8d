//go:build linux || darwin

package oneshot

import (
	"os"
	"syscall"
)

func owner(info os.FileInfo) (uid uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
