package initd

import (
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp"
	"golang.org/x/sys/unix"
)

// filter gives the system call filter and whether it needs a listener.
func (i *initd) filter() ([]unix.SockFilter, bool, error) {
	o := seccomp.Options{
		AllowNestedUserNamespaces: i.cfg.Process.AllowNestedUserNamespaces,
		AllowAllUnixSockets:       i.cfg.Process.AllowAllUnixSockets,
	}
	p, err := seccomp.Program(o)
	if err != nil {
		return nil, false, &wire.Fault{Code: wire.CodeUnsupported, Op: "choose the system call filter", Detail: err.Error()}
	}
	return p, o.Supervised, nil
}

func (i *initd) supervise(int) error { return nil }
