package launch

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// tmpParent is not TMPDIR, whose long names leave no room for the name of a socket.
const tmpParent = "/private/tmp"

// NewPlace opens a port of the command's own on the loopback and makes its temporary directory.
func NewPlace() (*Place, error) {
	fail := func(op string, err error) (*Place, error) {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: op, Detail: err.Error()}
	}
	dir, err := os.MkdirTemp(tmpParent, "srt-") // mode 0700
	if err != nil {
		return fail("make a temporary directory", err)
	}
	fd, port, err := listen()
	if err != nil {
		_ = os.Remove(dir)
		return fail("open a port for the proxy", err)
	}
	return &Place{ProxyAddr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), TmpDir: dir, listener: fd}, nil
}

func listen() (fd, port int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, 0, err
	}
	unix.CloseOnExec(fd)
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	var name unix.Sockaddr
	if err == nil {
		name, err = unix.Getsockname(fd)
	}
	if in, ok := name.(*unix.SockaddrInet4); ok && err == nil {
		return fd, in.Port, nil
	}
	unix.Close(fd)
	return -1, 0, fmt.Errorf("listen on the loopback: %w", err)
}

// Close removes what NewPlace made. A command may have taken the rights to its own directories away.
func (p *Place) Close() error {
	if p.listener >= 0 {
		unix.Close(p.listener)
		p.listener = -1
	}
	err := os.RemoveAll(p.TmpDir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(p.TmpDir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(p.TmpDir)
}
