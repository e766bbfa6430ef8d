package oneshot

import (
	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// inlineConfig is how long a configuration may be to travel in its message.
const inlineConfig = wire.MaxProxyMessage / 2

// anonymousFile holds b in memory, position 0; it has no name, so nothing can be left behind.
func anonymousFile(b []byte) (int, error) {
	fd, err := unix.MemfdCreate("srt", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	return fill(fd, b)
}
