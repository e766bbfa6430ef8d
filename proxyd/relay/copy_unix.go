//go:build unix

package relay

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/proxyd/breadth"
	"github.com/srt-dev/srt/proxyd/limits"
)

var buffers = sync.Pool{New: func() any { return new([limits.CopyBuffer]byte) }}

// bulk is how many full buffers in a row make a direction worth splicing: a splice is cheaper for each byte, but it costs a pipe, which
// an idle tunnel would hold as long as it lives.
const bulk = 4

// spliced is how much is spliced before a direction has to show again that it is busy.
const spliced = 16 << 20

// Copy moves bytes from src to dst until the end of file (nil) or an error. It holds a buffer only while there is something to move, so
// idle tunnels cost no memory, and lets the kernel move bulk data where it can.
func Copy(dst io.Writer, src *net.TCPConn) (written int64, err error) {
	raw, err := src.SyscallConn()
	if err != nil {
		return 0, err
	}
	fast, _ := dst.(io.ReaderFrom)
	full := 0
	for {
		buf, n, err := readReady(raw)
		if n > 0 {
			m, werr := dst.Write(buf[:n])
			written += int64(m)
			if werr != nil {
				err = werr
			}
		}
		if buf != nil {
			buffers.Put(buf)
		}
		switch {
		case err != nil:
			passReset(dst, err)
			return written, err
		case n == 0:
			return written, nil
		case n < limits.CopyBuffer || fast == nil:
			full = 0
		default:
			full++
		}
		if full >= bulk {
			breadth.Widen()
			m, err := fast.ReadFrom(&io.LimitedReader{R: src, N: spliced})
			written += m
			if err != nil || m < spliced {
				return written, err
			}
		}
	}
}

func wasReset(err error) bool { return errors.Is(err, unix.ECONNRESET) }

// readReady waits until there is something to read and reads it into a buffer that it takes only then. n is 0 at the end of file.
func readReady(raw syscall.RawConn) (buf *[limits.CopyBuffer]byte, n int, err error) {
	werr := raw.Read(func(fd uintptr) bool {
		buf = buffers.Get().(*[limits.CopyBuffer]byte)
		for {
			if n, err = unix.Read(int(fd), buf[:]); err != unix.EINTR {
				break
			}
		}
		if err == unix.EAGAIN {
			buffers.Put(buf)
			buf, n, err = nil, 0, nil
			return false
		}
		return true
	})
	if werr != nil {
		return buf, 0, werr
	}
	return buf, max(n, 0), err
}
