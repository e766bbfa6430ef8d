// Package nofile remembers the limit of open files that this process was started with. Go's package syscall raises the soft limit to
// the hard one before main; the command must get back what its caller had. This package imports nothing, so it is initialised before
// package syscall, and asks the kernel by itself. It must never import anything.
package nofile

// rlimitNofile is RLIMIT_NOFILE, the same number on amd64 and arm64.
const rlimitNofile = 7

// Soft and Hard are the limits at process start, in descriptors. Known is false when the kernel did not tell.
var (
	Soft, Hard uint64
	Known      bool
)

func init() {
	var limit [2]uint64
	if prlimit(rlimitNofile, &limit) == 0 {
		Soft, Hard, Known = limit[0], limit[1], true
	}
}

// prlimit reads a limit of this process with prlimit64(2) and returns the kernel's result.
//
//go:noescape
func prlimit(resource int, limit *[2]uint64) int
