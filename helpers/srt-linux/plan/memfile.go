package plan

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MemFile puts data into an anonymous file, positioned at its start, that nobody can change any more.
func MemFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("srt-config", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "srt-config")
	if _, err := f.Write(data); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK); err != nil {
		return nil, fmt.Errorf("seal the configuration: %w", err)
	}
	_, err = f.Seek(0, 0)
	return f, err
}
