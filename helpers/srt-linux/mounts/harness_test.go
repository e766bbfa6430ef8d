package mounts

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// The tests confine themselves. By MOUNTS_STAGE the test binary is the host (a mount namespace of its own, with shared mounts as systemd
// has them) or, as a child of that, the init: it applies a view in another one with the capabilities that bwrap leaves it.

const stageEnv, setupEnv = "MOUNTS_STAGE", "MOUNTS_SETUP"

// A setup is one view and what is done around it. Words of one call are separated by spaces; the host's calls and the command's are
// those of do.
type setup struct {
	View   view.View
	Dir    string   // working directory before
	Before []string // by the host, between plan and Apply
	While  []string // by the host again and again while Apply works; the last undoes the others
	After  []string // by the host, between Apply and Verify
	Later  []string // by the host, while the guard watches
	Inside []string // by the command
}

// An outcome is what came of it: errors as they are told, and one line for each call of the command.
type outcome struct {
	Apply, Verify string
	Hint          string
	Cwd           string
	Lines         []string
}

func TestMain(m *testing.M) {
	runtime.LockOSThread()
	switch os.Getenv(stageEnv) {
	case "":
		os.Exit(m.Run())
	case "host":
		hostStage()
	case "init":
		initStage()
	}
}

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "stage "+os.Getenv(stageEnv)+":", err)
		os.Exit(125)
	}
}

// stage is this binary as uid 0 of a new user namespace with a mount namespace of its own.
func stage(name string) *exec.Cmd {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), stageEnv+"="+name)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	return c
}

func run(t *testing.T, s setup) (o outcome) {
	t.Helper()
	srttest.RequireUserNamespaces(t)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	c := stage("host")
	file := filepath.Join(t.TempDir(), "setup")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, setupEnv+"="+file)
	c.Dir = s.Dir
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &o)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return o
}

func readSetup() (s setup) {
	text, err := os.ReadFile(os.Getenv(setupEnv))
	die(err)
	die(json.Unmarshal(text, &s))
	return s
}

// hostStage does the host's calls when the init says where it is: one word a line, answered by an empty one. The outcome follows.
func hostStage() {
	s := readSetup()
	die(unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""))
	hostDoes(s.Before)
	c := stage("init")
	in, err := c.StdinPipe()
	die(err)
	out, err := c.StdoutPipe()
	die(err)
	die(c.Start())
	lines := bufio.NewReader(out)
	stop := sync.OnceFunc(hostRepeats(s.While))
	for _, calls := range [][]string{s.After, s.Later} {
		line, err := lines.ReadString('\n')
		die(err)
		stop()
		if line != "\n" { // the outcome comes early
			fmt.Print(line)
			os.Exit(0)
		}
		hostDoes(calls)
		_, err = in.Write([]byte("\n"))
		die(err)
	}
	line, err := lines.ReadString('\n')
	die(err)
	fmt.Print(line)
	die(c.Wait())
}

// hostRepeats does calls again and again until what it gives is called.
func hostRepeats(calls []string) (stop func()) {
	if len(calls) == 0 {
		return func() {}
	}
	var enough atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !enough.Load() {
			hostDoes(calls)
		}
	}()
	return func() {
		enough.Store(true)
		<-ended
	}
}

func hostDoes(calls []string) {
	for _, call := range calls {
		if err := do(call); err != nil {
			die(fmt.Errorf("%s: %w", call, err))
		}
	}
}

func initStage() {
	s := readSetup()
	var o outcome
	over := func() {
		die(json.NewEncoder(os.Stdout).Encode(o))
		os.Exit(0)
	}
	answers := bufio.NewReader(os.Stdin)
	wait := func() {
		fmt.Println()
		_, err := answers.ReadString('\n')
		die(err)
	}
	tell := func(err error) string {
		var f *wire.Fault
		if !errors.As(err, &f) {
			return fmt.Sprint(err)
		}
		o.Hint = f.Hint
		return f.Error()
	}
	keep(unix.CAP_SYS_ADMIN)
	proc, err := unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	die(err)
	self, err := os.Executable()
	die(err)
	umask := unix.Umask(0)
	a, err := Apply(&s.View, Options{Self: self})
	unix.Umask(umask)
	if err != nil {
		o.Apply = tell(err)
		over()
	}
	wait()
	die(a.CoverProc(false))
	if err := a.Verify(proc); err != nil {
		o.Verify = tell(err)
		over()
	}
	if a.Guarded() {
		guarded := make(chan struct{})
		go func() {
			runtime.LockOSThread() // with the capability, as this thread drops it
			close(guarded)
			die(a.Guard())
		}()
		<-guarded
	}
	wait()
	keep()
	if o.Cwd, err = os.Getwd(); err != nil {
		o.Cwd = err.Error()
	}
	for _, call := range s.Inside {
		o.Lines = append(o.Lines, call+": "+errName(do(call)))
	}
	over()
}

// keep gives up every capability of this thread but those, as the init and the command have none over the files of others.
func keep(caps ...uintptr) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for _, c := range caps {
		data[c/32].Effective |= 1 << (c % 32)
		data[c/32].Permitted |= 1 << (c % 32)
	}
	die(unix.Capset(&head, &data[0]))
}

func errName(err error) string {
	var e unix.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &e):
		return unix.ErrnoName(e)
	}
	return err.Error()
}

// do performs one call.
func do(call string) error {
	f := append(strings.Fields(call), "", "")
	open := func(flags int) error {
		fd, err := unix.Open(f[1], flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	switch f[0] {
	case "read":
		return open(unix.O_RDONLY)
	case "write":
		return open(unix.O_WRONLY)
	case "shut": // not writable; where its owner is not ours, by its mode already
		var st unix.Stat_t
		err := errors.Join(unix.Stat(f[1], &st), open(unix.O_WRONLY))
		if errors.Is(err, unix.EROFS) || st.Uid != 0 && errors.Is(err, unix.EACCES) {
			return nil
		}
		return fmt.Errorf("open for writing: %v", err)
	case "make":
		return open(unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY)
	case "list":
		_, err := os.ReadDir(f[1])
		return err
	case "stat":
		return unix.Lstat(f[1], new(unix.Stat_t))
	case "remove":
		return os.Remove(f[1])
	case "clear":
		return os.RemoveAll(f[1])
	case "rename":
		return unix.Rename(f[1], f[2])
	case "link":
		return unix.Link(f[1], f[2])
	case "symlink":
		return unix.Symlink(f[1], f[2])
	case "mkdir":
		return unix.Mkdir(f[1], 0o755)
	case "chmod":
		return unix.Chmod(f[1], 0)
	case "holds": // its content is the second word
		b, err := os.ReadFile(f[1])
		if err == nil && string(b) != f[2] {
			err = fmt.Errorf("holds %q", b)
		}
		return err
	case "put": // as an editor does
		return errors.Join(os.WriteFile(f[1]+".new", []byte(f[2]), 0o644), unix.Rename(f[1]+".new", f[1]))
	case "mount":
		return unix.Mount("none", f[1], "tmpfs", 0, "")
	case "proc":
		return unix.Mount("/proc", f[1], "", unix.MS_BIND|unix.MS_REC, "")
	case "covered": // the guard has been there
		for range 1000 {
			if errors.Is(open(unix.O_WRONLY), unix.EROFS) {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
		return errors.New("still writable")
	}
	return errors.New("unknown call " + f[0])
}

// tree makes a directory with what entries say in it: "d/", "f", "l -> target". Files hold "old".
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		p, target, isLink := strings.Cut(e, " -> ")
		full := filepath.Join(dir, p)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, full)
		case strings.HasSuffix(p, "/"):
			err = os.MkdirAll(full, 0o755)
		default:
			err = os.WriteFile(full, []byte("old"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
