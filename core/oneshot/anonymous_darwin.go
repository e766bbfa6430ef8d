package oneshot

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// inlineConfig is how long a configuration may be to travel in its message.
const inlineConfig = wire.MaxProxyMessage / 2

// anonymousFile holds b in a file whose name is removed at once; macOS has no memfd.
func anonymousFile(b []byte) (int, error) {
	f, err := os.CreateTemp("/private/tmp", "srt-")
	if err != nil {
		return -1, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return -1, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	return fill(fd, b)
}
