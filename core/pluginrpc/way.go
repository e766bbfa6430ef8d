package pluginrpc

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/credentials"

	"github.com/srt-dev/srt/core/wire"
)

// way is how srt and a peer reach each other: what the peer is given at its start, what it may say, and who is let in.
type way interface {
	// give adds to cmd what the peer needs; theirs is its end of the lifetime pipe.
	give(cmd *exec.Cmd, theirs *os.File)
	// address judges the parts of the line with which the peer says where it listens.
	address(network, address, certificate string) (net.Addr, error)
	// creds judge who is at the other end; pid is the peer's.
	creds(pid int) credentials.TransportCredentials
	// end leaves nothing on the disk.
	end()
}

// socket is a unix socket in a private directory. The kernel says who is at its other end.
type socket struct {
	dir   string
	extra []*os.File // descriptors from ChannelFD on
}

func (s *socket) give(cmd *exec.Cmd, theirs *os.File) {
	cmd.ExtraFiles = append([]*os.File{theirs}, s.extra...)
	cmd.Env = append(cmd.Env, plugin.EnvUnixSocketDir+"="+s.dir)
}

func (s *socket) address(network, address, certificate string) (net.Addr, error) {
	if network != "unix" || filepath.Dir(address) != s.dir || certificate != "" {
		return nil, elsewhere()
	}
	return &net.UnixAddr{Net: "unix", Name: address}, nil
}

func (s *socket) creds(pid int) credentials.TransportCredentials { return onlyFrom(pid, nil) }

func (s *socket) end() { os.RemoveAll(s.dir) }

// elsewhere is what a peer gets that did not listen where it was told to.
func elsewhere() error {
	return &wire.Fault{Code: wire.CodeMalformed, Op: "start", Detail: "the peer listens where it was not told to"}
}

// malformed is what a peer gets that said something else than where it listens.
func malformed(format string, v ...any) error {
	return &wire.Fault{Code: wire.CodeMalformed, Op: "start", Detail: fmt.Sprintf(format, v...)}
}
