//go:build unix

package pluginrpc

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
)

const exe = ""

// another gives the program self another name.
func another(t *testing.T, self, name string) (string, error) {
	path := filepath.Join(t.TempDir(), name)
	return path, os.Symlink(self, path)
}

func leadsSession() bool {
	sid, err := unix.Getsid(0)
	return err == nil && sid == os.Getpid()
}

// alive is false for a process that has ended and waits for somebody to take note.
func alive(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// standOnPort lets this peer, when it was asked for, stand on a port: go-plugin opens ports on Windows only, so its socket is put behind
// one. All the rest is as there: the line, the certificates, and who is let in.
func standOnPort() error {
	if os.Getenv(envCertificate) == "" {
		return nil
	}
	if err := os.Chdir(filepath.Dir(os.Args[0])); err != nil { // a socket's name has to be short
		return err
	}
	if err := os.Setenv(plugin.EnvUnixSocketDir, "."); err != nil {
		return err
	}
	l, err := listenOnPort()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	out := os.Stdout
	os.Stdout = w
	go func() {
		line, err := bufio.NewReader(r).ReadString('\n')
		part := strings.Split(line, "|")
		if err != nil || len(part) < 6 {
			os.Exit(8)
		}
		name := part[3]
		part[2], part[3] = "tcp", l.Addr().String()
		fmt.Fprint(out, strings.Join(part, "|"))
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go join(c, name)
		}
	}()
	return nil
}

func join(c net.Conn, name string) {
	defer c.Close()
	s, err := net.Dial("unix", name)
	if err != nil {
		return
	}
	defer s.Close()
	go func() {
		io.Copy(s, c)
		s.Close()
	}()
	io.Copy(c, s)
}
