//go:build linux || darwin

package prove

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Stage is what was prepared for one series of attempts.
type Stage struct {
	Root  string `json:"root"`
	Proxy int    `json:"proxy"` // the command's own port on the loopback; somebody listens
	Other int    `json:"other"` // another port on the loopback; somebody listens
	Pid   int    `json:"pid"`   // a process outside

	Neighbour int    `json:"neighbour"` // a process under the same policy in a sandbox of its own
	Resolver  string `json:"resolver"`  // the unix socket of the service that answers host names
}

func (s Stage) path(elem ...string) string {
	return filepath.Join(append([]string{s.Root}, elem...)...)
}

// attempt is one thing that the command tries.
type attempt struct {
	name  string
	works bool // must work; otherwise it must be refused
	do    func(s Stage) error
}

// attempts run in this order, each on what the ones before have left.
var attempts = []attempt{
	{"read a file outside the working directory", true, func(s Stage) error { return read(s.path("outside/file")) }},
	{"create, rename and remove a file in the working directory", true, func(s Stage) error {
		return errors.Join(create(s.path("work/new")), os.Rename(s.path("work/new"), s.path("work/new2")), os.Remove(s.path("work/new2")))
	}},
	{"make and remove a directory there", true, func(s Stage) error {
		return errors.Join(os.Mkdir(s.path("work/d"), 0o755), os.Remove(s.path("work/d")))
	}},
	{"write to a file that was there", true, func(s Stage) error { return write(s.path("work/file")) }},
	{"use the private temporary directory", true, func(s Stage) error { return create(s.path("tmp/file")) }},
	{"write to /dev/null", true, func(Stage) error { return write("/dev/null") }},
	{"start another program", true, func(Stage) error { return start("/bin/echo") }},
	{"look at a hidden file", true, func(s Stage) error { _, err := os.Lstat(s.path("work/.env")); return err }},
	{"read what is opened inside a hidden directory", true, func(s Stage) error { return read(s.path("hidden/open/file")) }},
	{"connect to the command's own proxy port", true, func(s Stage) error { return connect(s.Proxy) }},

	{"read a file in a hidden directory", false, func(s Stage) error { return read(s.path("hidden/file")) }},
	{"list a hidden directory", false, func(s Stage) error { _, err := os.ReadDir(s.path("hidden")); return err }},
	{"look at a name in a hidden directory", false, func(s Stage) error { _, err := os.Lstat(s.path("hidden/file")); return err }},
	{"look at a name in a hidden directory that opens nothing", false, func(s Stage) error { _, err := os.Lstat(s.path("closed/file")); return err }},
	{"read a file that a pattern hides", false, func(s Stage) error { return read(s.path("work/.env")) }},
	{"read it in capitals", false, func(s Stage) error { return readFold(s.path("work"), ".ENV", ".env") }},
	{"read it through a link", false, func(s Stage) error {
		return errors.Join(os.Symlink(".env", s.path("work/link")), read(s.path("work/link")))
	}},
	{"rename a hidden file and read it", false, func(s Stage) error { return moveAndRead(s.path("work/.env"), s.path("work/env"), "") }},
	{"rename the directory of a hidden file and read it", false, func(s Stage) error {
		return moveAndRead(s.path("work/app"), s.path("tmp/app"), ".env")
	}},
	{"give a hidden file a second name", false, func(s Stage) error { return os.Link(s.path("work/.env"), s.path("work/second")) }},
	{"execute a hidden program", false, func(s Stage) error { return start(s.path("hidden/program")) }},
	{"write outside the working directory", false, func(s Stage) error { return create(s.path("outside/new")) }},
	{"write outside through a link", false, func(s Stage) error {
		return errors.Join(os.Symlink("../outside", s.path("work/out")), create(s.path("work/out/new2")))
	}},
	{"give a file outside a second name inside", false, func(s Stage) error { return os.Link(s.path("outside/file"), s.path("work/inside")) }},
	{"write to a denied file", false, func(s Stage) error { return write(s.path("work/kept/file")) }},
	{"change its mode", false, func(s Stage) error { return os.Chmod(s.path("work/kept/file"), 0o600) }},
	{"swap a denied file with another one", false, func(s Stage) error { return swapAndBack(s.path("work/kept/file"), s.path("work/file")) }},
	{"remove it", false, func(s Stage) error { return os.Remove(s.path("work/kept/file")) }},
	{"rename the directory above it", false, func(s Stage) error { return moveAndBack(s.path("work/kept"), s.path("work/moved")) }},
	{"create a denied path that does not exist", false, func(s Stage) error { return create(s.path("work/never")) }},
	{"create it in capitals", false, func(s Stage) error {
		_ = os.Remove(s.path("work/never")) // where the attempt before has worked
		return create(s.path("work/NEVER"))
	}},
	{"create it with its accent apart", false, func(s Stage) error { return create(s.path("work/ne\u0301ver")) }},
	{"create it with a sign that folds to a letter", false, func(s Stage) error { return create(s.path("work/\u212aey")) }},
	{"swap a hidden file with another one", false, func(s Stage) error { return swapAndBack(s.path("work/.env"), s.path("work/file")) }},
	{"create what a pattern denies", false, func(s Stage) error { return create(s.path("work/a/b.pem")) }},
	{"create .bashrc", false, func(s Stage) error { return create(s.path("work/a/.bashrc")) }},
	{"create .BashRC", false, func(s Stage) error { return create(s.path("work/b/.BashRC")) }},
	{"create a git hook", false, func(s Stage) error { return create(s.path("work/.git/hooks/pre-commit")) }},
	{"change git's configuration", false, func(s Stage) error { return write(s.path("work/.git/config")) }},
	{"rename a prepared directory to .claude", false, func(s Stage) error {
		return errors.Join(os.Mkdir(s.path("work/prepared"), 0o755), os.Rename(s.path("work/prepared"), s.path("work/.claude")))
	}},
	{"make .git in a new directory", false, func(s Stage) error {
		return errors.Join(os.Mkdir(s.path("work/fresh"), 0o755), os.Mkdir(s.path("work/fresh/.git"), 0o755))
	}},
	{"remove the working directory's own name", false, func(s Stage) error { return moveAndBack(s.path("work"), s.path("tmp/work")) }},
	{"connect to another local port", false, func(s Stage) error { return connect(s.Other) }},
	{"send a datagram", false, func(s Stage) error { return datagram(s.Other) }},
	{"open a local port", false, func(Stage) error { return listen("tcp", "127.0.0.1:0") }},
	{"connect to a unix socket", false, func(s Stage) error { return dial("unix", s.path("work/sock")) }},
	{"open a unix socket", false, func(s Stage) error { return listen("unix", s.path("tmp/sock")) }},
	{"connect to a service of the system (the resolver of host names)", false, func(s Stage) error { return dial("unix", s.Resolver) }},
	{"signal a process outside", false, func(s Stage) error { return syscall.Kill(s.Pid, 0) }},
	{"signal a process of another sandbox", false, func(s Stage) error { return syscall.Kill(s.Neighbour, 0) }},
	{"read the environment of a process of another sandbox", false, func(s Stage) error { return environment(s.Neighbour) }},
	{"list the processes of the machine", false, func(Stage) error { return processes() }},
	{"read the environment of a process outside", false, func(s Stage) error { return environment(s.Pid) }},
}

func read(path string) error { _, err := os.ReadFile(path); return err }

func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		f.Close()
	}
	return err
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		f.Close()
	}
	return err
}

// readFold reads dir/name, on a volume that tells it from plain by the one that is there.
func readFold(dir, name, plain string) error {
	if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) {
		name = plain
	}
	return read(filepath.Join(dir, name))
}

func moveAndRead(from, to, file string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	err := read(filepath.Join(to, file))
	return errors.Join(err, os.Rename(to, from))
}

func moveAndBack(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return os.Rename(to, from)
}

func swapAndBack(a, b string) error {
	if err := swap(a, b); err != nil {
		return err
	}
	return swap(a, b)
}

func start(program string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(program, []string{program}, &os.ProcAttr{Files: []*os.File{null, null, null}})
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err == nil && !state.Success() {
		err = fmt.Errorf("%s: %v", program, state)
	}
	return err
}

// patience is how long a connection may take.
const patience = 5 * time.Second

func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, patience)
	if err == nil {
		c.Close()
	}
	return err
}

func connect(port int) error { return dial("tcp4", "127.0.0.1:"+strconv.Itoa(port)) }

func datagram(port int) error {
	c, err := net.Dial("udp4", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("x"))
	return err
}

func listen(network, addr string) error {
	l, err := net.Listen(network, addr)
	if err == nil {
		l.Close()
	}
	return err
}
