// Package dirent lists directories by descriptor (getdents64(2)), for whoever looks at thousands of them. It must never follow a link or open
// anything.
package dirent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name.
const (
	atLength = 16
	atType   = 18
	atName   = 19
)

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Visit calls f with every entry of the directory dir but "." and "..", until f gives false. dir is open for reading and at its
// beginning. name is valid during the call only; typ is unix.DT_REG and the like, unix.DT_UNKNOWN where the file system does not say.
// The error is that of the system call, or says that the listing is broken.
func Visit(dir int, f func(name []byte, typ byte) bool) error {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := unix.Getdents(dir, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		for b := buf[:n]; len(b) > atName; {
			length := int(binary.NativeEndian.Uint16(b[atLength:]))
			if length <= atName || length > len(b) {
				return errors.New("a broken directory listing")
			}
			name := b[atName:length]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			typ := b[atType]
			b = b[length:]
			if len(name) == 0 || len(name) == 1 && name[0] == '.' || len(name) == 2 && name[0] == '.' && name[1] == '.' {
				continue
			}
			if !f(name, typ) {
				return nil
			}
		}
	}
}
