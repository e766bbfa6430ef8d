//go:build !unix

package relay

import (
	"io"
	"net"
)

// Copy moves bytes from src to dst until the end of file (nil) or an error.
func Copy(dst io.Writer, src *net.TCPConn) (int64, error) {
	return io.Copy(dst, struct{ io.Reader }{src})
}

// wasReset cannot be told here: a reset is passed on as an end.
func wasReset(error) bool { return false }
