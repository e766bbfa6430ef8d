package initd

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hideName takes the program's name and arguments out of /proc/PID/comm and cmdline: the command sees the nested PID 1, a fork of
// this process, and has no use for the paths of srt. The arguments must not be read afterwards.
func hideName() {
	name := [...]byte{'i', 'n', 'i', 't', 0}
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	for i, arg := range os.Args { // the runtime's strings lie in the memory that the kernel shows
		shown := unsafe.Slice(unsafe.StringData(arg), len(arg))
		clear(shown)
		if i == 0 {
			copy(shown, name[:])
		}
	}
}
