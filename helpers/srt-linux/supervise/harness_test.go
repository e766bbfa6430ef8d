package supervise

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// The tests confine themselves: the test binary is, by SUPERVISE_STAGE, the init (PID 1 of a PID namespace, uid 0 of a user namespace),
// the nested PID 1, the process that loads the filter, and the command.

const stageEnv, setupEnv = "SUPERVISE_STAGE", "SUPERVISE_SETUP"

// A setup is what one sandbox is made of.
type setup struct {
	Inside     string // name of the function to run, of insiders
	Argv       []string
	Args       []string
	Dir        string
	Names      []view.Name
	Private    []string
	Sockets    []wire.PathEntry
	ReadOnly   []string // bind-mounted read-only onto themselves
	Hide       []string // for messages only
	CreateOnce []string
	Terminal   bool // the command gets a controlling terminal; what it writes there is the output
	Explain    bool
	Audit      bool
	Nested     bool // namespaces allowed
	Plain      bool // no supervision
	Uid        int  // 0: root
}

// An outcome is what came of it.
type outcome struct {
	Out        string
	Status     int
	Violations []wire.Violation
	Allowed    []wire.Decision // with setup.Audit
	Serve      string          // error of Serve
	Left       bool            // MayHaveLeft
	CPU        time.Duration
	// Mallocs and Collections of the init while it served.
	Mallocs     uint64
	Collections uint32
}

func TestMain(m *testing.M) {
	switch os.Getenv(stageEnv) {
	case "":
		os.Exit(mainTests(m))
	case "outer":
		outerStage()
	case "init":
		initStage()
	case "nested":
		nestedStage()
	case "filter":
		filterStage()
	case "command":
		s := readSetup()
		f, ok := insiders[s.Inside]
		if !ok {
			die("no function %q", s.Inside)
		}
		f(s.Args)
		os.Exit(0)
	}
}

// testBinary is a copy of the test binary that every user can execute.
var testBinary string

func mainTests(m *testing.M) int {
	dir, err := os.MkdirTemp("/tmp", "svbin")
	if err != nil {
		die("%v", err)
	}
	defer os.RemoveAll(dir)
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		testBinary = filepath.Join(dir, "test")
		err = os.WriteFile(testBinary, self, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		die("%v", err)
	}
	return m.Run()
}

func die(format string, a ...any) {
	fmt.Fprintf(os.Stderr, "stage "+os.Getenv(stageEnv)+": "+format+"\n", a...)
	os.Exit(125)
}

func readSetup() (s setup) {
	if err := json.Unmarshal([]byte(os.Getenv(setupEnv)), &s); err != nil {
		die("%v", err)
	}
	return s
}

func stage(name string, files ...*os.File) *exec.Cmd {
	self := testBinary
	if self == "" {
		self, _ = os.Executable()
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), stageEnv+"="+name)
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, files
	return c
}

func exitWith(err error) {
	var x *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case asExit(err, &x) && x.ExitCode() >= 0:
		os.Exit(x.ExitCode())
	case asExit(err, &x):
		os.Exit(128 + int(x.Sys().(syscall.WaitStatus).Signal()))
	}
	die("%v", err)
}

func asExit(err error, x **exec.ExitError) (ok bool) { *x, ok = err.(*exec.ExitError); return ok }

// run builds the sandbox and waits for its end. The violations are read from a pipe.
func run(t testing.TB, s setup) outcome {
	t.Helper()
	srttest.RequireRoot(t) // to build the sandbox
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := stage("outer", w)
	c.Env = append(c.Env, setupEnv+"="+string(text))
	c.Dir = s.Dir
	if s.Uid != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.Uid), Gid: uint32(s.Uid)}}
	}
	var out strings.Builder
	c.Stdin, c.Stdout, c.Stderr = nil, &out, &out
	var screen <-chan string
	if s.Terminal {
		screen = giveTerminal(t, c)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if s.Terminal {
		c.Stdin.(*os.File).Close()
		out.WriteString(<-screen)
	}
	report, _ := io.ReadAll(r)
	r.Close()
	_ = c.Wait()
	o := outcome{Status: c.ProcessState.ExitCode()}
	if len(report) > 0 {
		if err := json.Unmarshal(report, &o); err != nil {
			t.Fatalf("report %q: %v", report, err)
		}
	}
	o.Out = out.String()
	o.Status = c.ProcessState.ExitCode()
	o.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if o.Serve != "" {
		t.Fatalf("Serve ended with %q; output:\n%s", o.Serve, o.Out)
	}
	if o.Status == 125 {
		t.Fatalf("the sandbox was not built:\n%s", o.Out)
	}
	return o
}

// giveTerminal makes a pseudo-terminal the controlling terminal of c. The channel gives what was written to it until it is closed.
func giveTerminal(t testing.TB, c *exec.Cmd) <-chan string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid, c.SysProcAttr.Setctty, c.SysProcAttr.Ctty = true, true, 0
	screen := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(master)
		screen <- string(b)
	}()
	return screen
}

// outerStage is srt: it stands outside.
func outerStage() {
	c := stage("init", os.NewFile(3, "report"))
	uid, gid := os.Getuid(), os.Getgid()
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}, Pdeathsig: syscall.SIGKILL,
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}}
	c.Env = append(c.Env, fmt.Sprintf("SUPERVISE_IDS=%d %d", uid, gid))
	exitWith(c.Run())
}

func initStage() {
	s := readSetup()
	report := os.NewFile(3, "report")
	must := func(what string, err error) {
		if err != nil {
			die("%s: %v", what, err)
		}
	}
	must("private mounts", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must("loopback", upLoopback())
	must("mount /proc", unix.Mount("proc", "/proc", "proc", 0, ""))
	var o outcome
	cfg := Config{Private: s.Private, AllowSockets: s.Sockets, Explain: s.Explain, NestedNamespaces: s.Nested}
	for _, p := range s.CreateOnce {
		fd, err := unix.OpenTree(unix.AT_FDCWD, filepath.Dir(p), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		must("clone the parent of "+p, err)
		cfg.CreateOnce = append(cfg.CreateOnce, CreateOnceTarget{Path: p, Parent: fd})
	}
	for _, p := range s.ReadOnly {
		must("bind "+p, unix.Mount(p, p, "", unix.MS_BIND, ""))
		must("protect "+p, unix.Mount("", p, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_RELATIME, ""))
		cfg.ReadOnly = append(cfg.ReadOnly, view.Target{Path: p, Rule: "read-only"})
	}
	for _, p := range s.Hide {
		cfg.Hide = append(cfg.Hide, view.Target{Path: p, Rule: "hidden"})
	}
	var err error
	cfg.Proc, err = unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must("open /proc", err)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	must("socketpair", err)
	c := stage("nested", os.NewFile(uintptr(pair[1]), "pair"))
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	must("start the nested namespace", c.Start())
	unix.Close(pair[1])
	if !s.Plain {
		oob, b := make([]byte, 64), make([]byte, 1)
		_, n, _, _, err := unix.Recvmsg(pair[0], b, oob, unix.MSG_CMSG_CLOEXEC)
		must("receive the listener", err)
		msgs, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil || len(msgs) != 1 {
			die("no listener")
		}
		fds, err := unix.ParseUnixRights(&msgs[0])
		must("receive the listener", err)
		cfg.Report = func(v wire.Violation) { v.TimeMs = 0; o.Violations = append(o.Violations, v) }
		if s.Audit {
			cfg.Audit = func(d wire.Decision) { d.TimeMs = 0; o.Allowed = append(o.Allowed, d) }
		}
		unix.Close(pair[0])
		cfg.Rules, err = Compile(s.Names)
		must("compile", err)
		sv, err := New(cfg)
		must("new", err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := sv.Serve(fds[0]); err != nil {
			o.Serve = err.Error()
			_ = c.Process.Kill()
		}
		runtime.ReadMemStats(&after)
		o.Left = sv.MayHaveLeft()
		o.Mallocs, o.Collections = after.Mallocs-before.Mallocs, after.NumGC-before.NumGC
	}
	err = c.Wait()
	if !s.Plain {
		must("report", json.NewEncoder(report).Encode(o))
	}
	exitWith(err)
}

// nestedStage is PID 1 of the command's PID namespace.
func nestedStage() {
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		die("mount /proc: %v", err)
	}
	var uid, gid int
	fmt.Sscan(os.Getenv("SUPERVISE_IDS"), &uid, &gid)
	c := stage("filter", os.NewFile(3, "pair"))
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: 0, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: 0, Size: 1}}}
	err := c.Start()
	if err != nil {
		die("%v", err)
	}
	unix.Close(3)
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if err == nil && pid == c.Process.Pid {
			if ws.Signaled() {
				os.Exit(128 + int(ws.Signal()))
			}
			os.Exit(ws.ExitStatus())
		}
	}
}

func filterStage() {
	runtime.LockOSThread()
	s := readSetup()
	for c := uintptr(0); c < 64; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	if e := setCaps(0, 0); e != 0 {
		die("capset: %v", e)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		die("%v", err)
	}
	if !s.Plain {
		f := testFilter(s.Explain)
		fd, e := loadFilter(f)
		if e != 0 {
			die("load the filter: %v", e)
		}
		if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
			die("%v", err)
		}
		unix.Close(int(fd))
	}
	unix.Close(3)
	argv, env := s.Argv, os.Environ()
	if argv == nil {
		self, _ := os.Executable()
		os.Setenv(stageEnv, "command")
		argv, env = []string{self}, os.Environ()
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		die("%v", err)
	}
	die("exec: %v", unix.Exec(path, argv, env))
}

// testFilter assembles the filter that Notified asks for, with the calls that would go past it answered as the product does.
func testFilter(explain bool) []unix.SockFilter {
	const ld, jeq, and, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	const allow, notify, errNo = 0x7fff0000, 0x7fc00000, 0x00050000
	f := []unix.SockFilter{{Code: ld, K: 0}}
	for _, c := range Notified {
		if c.When == Plain && explain || c.When == Explained && !explain {
			continue
		}
		if c.Mask == 0 {
			f = append(f, unix.SockFilter{Code: jeq, Jf: 1, K: uint32(c.Nr)}, unix.SockFilter{Code: ret, K: notify})
			continue
		}
		f = append(f, unix.SockFilter{Code: jeq, Jf: 5, K: uint32(c.Nr)},
			unix.SockFilter{Code: ld, K: uint32(16 + 8*c.Arg)}, unix.SockFilter{Code: and, K: c.Mask},
			unix.SockFilter{Code: jeq, Jf: 1, K: c.Value}, unix.SockFilter{Code: ret, K: notify}, unix.SockFilter{Code: ret, K: allow})
	}
	for _, nr := range []uint32{unix.SYS_OPENAT2, unix.SYS_CLONE3} {
		f = append(f, unix.SockFilter{Code: jeq, Jf: 1, K: nr}, unix.SockFilter{Code: ret, K: errNo | uint32(unix.ENOSYS)})
	}
	f = append(f, unix.SockFilter{Code: jeq, Jf: 1, K: unix.SYS_ACCT}, unix.SockFilter{Code: ret, K: notify}) // stands for the refused calls
	return append(f, unix.SockFilter{Code: ret, K: allow})
}
