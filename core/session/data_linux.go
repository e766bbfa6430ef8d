package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// sealed holds b in an anonymous file, position 0, that nobody can change any more.
func sealed(b []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("srt", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "srt")
	_, err = f.WriteAt(b, 0)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
