package oneshot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// inlineConfig is how long a configuration may be to travel in its message.
const inlineConfig = wire.MaxProxyMessage / 2

// SealedFile holds b in memory, position 0, in a file that has no name and that nobody can change any more.
func SealedFile(b []byte) (*os.File, error) {
	fd, err := anonymousFile(b)
	if err != nil {
		return nil, fmt.Errorf("put data into an anonymous file: %w", err)
	}
	return os.NewFile(uintptr(fd), "sealed"), nil
}

// anonymousFile is SealedFile for those who count descriptors themselves.
func anonymousFile(b []byte) (int, error) {
	fd, err := unix.MemfdCreate("srt", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	if fd, err = fill(fd, b); err != nil {
		return -1, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
