package launch

import (
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
func NewPlace(Terms) (*Place, error) {
	fail := func(op string, err error) (*Place, error) {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: op, Detail: err.Error()}
	}
	dir, err := os.MkdirTemp(tmpParent, "srt-") // mode 0700
	if err != nil {
		return fail("make a temporary directory", err)
	}
	p := &Place{TmpDir: dir}
	port := 0
	if p.listener, p.held, port, err = ownPort(); err != nil {
		_ = os.Remove(dir)
		return fail("open a port for the proxy", err)
	}
	p.ProxyAddr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return p, nil
}

// Close removes what NewPlace made. A command may have taken the rights to its own directories away.
func (p *Place) Close() error {
	for _, fd := range []*int{&p.listener, &p.held} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	err := os.RemoveAll(p.TmpDir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(p.TmpDir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = unix.Fchmodat(unix.AT_FDCWD, path, 0o700, unix.AT_SYMLINK_NOFOLLOW)
		}
		return nil
	})
	return os.RemoveAll(p.TmpDir)
}
