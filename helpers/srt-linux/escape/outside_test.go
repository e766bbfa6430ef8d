package escape

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A host is what stands outside for the attackers to reach.
type host struct {
	Pid      int    // a process, whose environment and memory hold a secret
	Stream   string // sockets that answer with a secret, in a directory that is not writable
	Packet   string
	Datagram string
	Inside   string // one in the writable directory
	Abstract string
	TCP      string
	SysV     int // a shared memory segment
	Key      string
}

const hostSecret = "what only the host knows"

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// startHost starts a process and listeners; the test ends them.
func startHost(t *testing.T, base string) host {
	t.Helper()
	victim := exec.Command("sleep", "300")
	victim.Env = []string{"TOKEN=" + hostSecret}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = victim.Process.Kill()
		_ = victim.Wait()
	})
	dir := filepath.Join(base, "s")
	for _, d := range []string{dir, filepath.Join(base, "work")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := host{Pid: victim.Process.Pid, Stream: dir + "/stream", Packet: dir + "/packet", Datagram: dir + "/datagram",
		Inside: filepath.Join(base, "work", "host.sock"), Abstract: "@srt-escape-" + strconv.Itoa(victim.Process.Pid)}
	for network, name := range map[string]string{"unix": h.Stream, "unix#2": h.Inside, "unixpacket": h.Packet, "unix#3": h.Abstract} {
		network, _, _ = strings.Cut(network, "#")
		l, err := net.Listen(network, name)
		if err != nil {
			t.Fatal(err)
		}
		serve(t, l)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.TCP = l.Addr().String()
	serve(t, l)
	d, err := net.ListenPacket("unixgram", h.Datagram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	heard.forget()
	go heard.from(d)
	if h.SysV, err = unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600); err == nil {
		t.Cleanup(func() { _, _ = unix.SysvShmCtl(h.SysV, unix.IPC_RMID, nil) })
		if mem, err := unix.SysvShmAttach(h.SysV, 0, 0); err == nil {
			copy(mem, hostSecret)
			_ = unix.SysvShmDetach(mem)
		}
	}
	return h
}

func serve(t *testing.T, l net.Listener) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, hostSecret)
			c.Close()
		}
	}()
}

// heard is what arrived at datagram sockets of the host.
var heard ears

type ears struct {
	mu   sync.Mutex
	text strings.Builder
}

func (e *ears) from(c net.PacketConn) {
	b := make([]byte, 4096)
	for {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		e.mu.Lock()
		e.text.Write(b[:n])
		e.mu.Unlock()
	}
}

func (e *ears) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text.Reset()
}

func (e *ears) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

// fingerprint says everything about the trees: names, kinds, modes, owners, links, times, contents, attributes, flags.
func fingerprint(roots ...string) string {
	var b strings.Builder
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error {
			var st unix.Stat_t
			if unix.Lstat(p, &st) != nil {
				fmt.Fprintf(&b, "%s: absent\n", p)
				return nil
			}
			fmt.Fprintf(&b, "%s: %o %d:%d", p, st.Mode, st.Uid, st.Gid)
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				text, _ := os.ReadFile(p)
				fmt.Fprintf(&b, " %d links, %d, %q", st.Nlink, st.Mtim.Nano(), text)
			case unix.S_IFLNK:
				to, _ := os.Readlink(p)
				fmt.Fprintf(&b, " -> %q", to)
			}
			names := make([]byte, 4096)
			if n, err := unix.Llistxattr(p, names); err == nil {
				for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
					value := make([]byte, 4096)
					if n, err := unix.Lgetxattr(p, name, value); err == nil {
						fmt.Fprintf(&b, " %s=%q", name, value[:n])
					}
				}
			}
			if fd, err := unix.Open(p, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0); err == nil {
				if flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS); err == nil {
					fmt.Fprintf(&b, " flags %x", flags)
				}
				unix.Close(fd)
			}
			fmt.Fprintln(&b)
			return nil
		})
	}
	return b.String()
}

// difference gives the lines of after that before has not, and the other way round.
func difference(before, after string) string {
	var out []string
	for sign, pair := range map[string][2]string{"-": {before, after}, "+": {after, before}} {
		for line := range strings.Lines(pair[0]) {
			if !strings.Contains(pair[1], line) {
				out = append(out, sign+strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(out, "; ")
}
