package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	for name, f := range map[string]func(){
		"fifo pairs":                fifoPairs,
		"fifo signal":               fifoSignal,
		"fifo reader":               fifoReader,
		"lease":                     lease,
		"many blocked":              manyBlocked,
		"killed callers":            killedCallers,
		"stopped caller":            stoppedCaller,
		"tcp connects":              tcpConnects,
		"full backlog":              fullBacklog,
		"proc and terminal":         procAndTerminal,
		"thread with own directory": threadDirectory,
	} {
		insiders[name] = func([]string) { f() }
	}
}

// TestWaiting runs programs that wait for others inside calls; each prints "ok" or what was wrong.
func TestWaiting(t *testing.T) {
	for name := range map[string]bool{"fifo pairs": true, "fifo signal": true, "fifo reader": true, "lease": true, "many blocked": true, "killed callers": true,
		"stopped caller": true, "tcp connects": true, "full backlog": true, "proc and terminal": true, "thread with own directory": true} {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, 1001, "d/", "e/")
			o := run(t, setup{Dir: dir, Uid: 1001, Inside: name, Names: sequence(".bashrc")})
			if strings.TrimSpace(o.Out) != "ok" {
				t.Errorf("got %q", o.Out)
			}
		})
	}
}

func check(what string, err error) {
	if err != nil {
		fmt.Printf("%s: %v\n", what, err)
		os.Exit(1)
	}
}

func fail(format string, a ...any) {
	fmt.Printf(format+"\n", a...)
	os.Exit(1)
}

// openTimed is an open in a thread of its own, so that the test can see it wait.
func openTimed(path string, flags int) <-chan openResult {
	c := make(chan openResult, 1)
	go func() {
		start := time.Now()
		fd, err := unix.Open(path, flags|unix.O_CREAT, 0o644)
		for err == unix.EINTR { // a signal of the process
			fd, err = unix.Open(path, flags|unix.O_CREAT, 0o644)
		}
		c <- openResult{fd, err, time.Since(start)}
	}()
	return c
}

type openResult struct {
	fd   int
	err  error
	took time.Duration
}

func fifoPairs() {
	for i := range 20 {
		name := "f" + strconv.Itoa(i)
		check("mkfifo", unix.Mkfifo(name, 0o644))
		first, second := unix.O_RDONLY, unix.O_WRONLY
		if i%2 == 1 {
			first, second = second, first
		}
		a := openTimed(name, first)
		time.Sleep(20 * time.Millisecond)
		select {
		case r := <-a:
			fail("open %d came back with nobody at the other end: %v", i, r)
		default:
		}
		b := <-openTimed(name, second)
		check("second end", b.err)
		r := <-a // by the other's open alone: nothing was written
		check("first end", r.err)
		for _, fd := range []int{r.fd, b.fd} {
			if fl, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); fl&unix.O_NONBLOCK != 0 {
				fail("O_NONBLOCK stayed on")
			}
		}
		w, rd := b.fd, r.fd
		if i%2 == 1 {
			w, rd = rd, w
		}
		_, err := unix.Write(w, []byte("x"))
		check("write", err)
		var buf [1]byte
		if n, err := unix.Read(rd, buf[:]); n != 1 || err != nil {
			fail("read %d %v", n, err)
		}
		unix.Close(w)
		unix.Close(rd)
	}
	fmt.Println("ok")
}

// fifoReader: an open for reading natively ends when a writer opens, also when that writer is gone again.
func fifoReader() {
	check("mkfifo", unix.Mkfifo("f", 0o644))
	r := openTimed("f", unix.O_RDONLY)
	w := <-openTimed("f", unix.O_WRONLY|unix.O_NONBLOCK)
	for w.err == unix.ENXIO { // the reader is not there yet
		time.Sleep(time.Millisecond)
		w = <-openTimed("f", unix.O_WRONLY|unix.O_NONBLOCK)
	}
	check("writer", w.err)
	unix.Close(w.fd)
	select {
	case x := <-r:
		check("reader", x.err)
	case <-time.After(30 * time.Second):
		fail("the reader waits after a writer came and went")
	}
	if n := <-openTimed("f", unix.O_WRONLY|unix.O_NONBLOCK); n.err != nil {
		fail("no reader seen: %v", n.err)
	}
	fmt.Println("ok")
}

func fifoSignal() {
	check("mkfifo", unix.Mkfifo("f", 0o644))
	for _, restart := range []bool{true, false} { // in this order: Notify does not set the flag again
		runtime.LockOSThread()
		tid := unix.Gettid()
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGUSR1) // Go installs handlers with SA_RESTART
		if !restart {
			clearRestart(unix.SIGUSR1)
		}
		opened, gone := make(chan bool), make(chan bool)
		go func() {
			defer close(gone)
			waitInCall(tid, unix.SYS_OPENAT)
			_ = unix.Tgkill(unix.Getpid(), tid, unix.SIGUSR1)
			<-c
			time.Sleep(300 * time.Millisecond)
			fd, err := unix.Open("f", unix.O_RDONLY|unix.O_NONBLOCK, 0)
			check("reader", err)
			<-opened // the reader stays: a writer that waits here would miss one that comes and goes
			unix.Close(fd)
		}()
		fd, _, e := unix.Syscall6(unix.SYS_OPENAT, ^uintptr(99), uintptr(pathPointer("f")), unix.O_WRONLY|unix.O_CREAT, 0o644, 0, 0)
		close(opened)
		<-gone
		switch {
		case restart && e != 0:
			fail("the open was not restarted: %v", e)
		case !restart && e != unix.EINTR:
			fail("want EINTR, got %v", e)
		}
		if e == 0 {
			unix.Close(int(fd))
		}
	}
	fmt.Println("ok")
}

// waitInCall returns when the thread has been sleeping in a system call for a moment.
func waitInCall(tid int, nr uint64) {
	want := strconv.FormatUint(nr, 10) + " "
	for seen := 0; seen < 3; time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", tid)); err == nil && strings.HasPrefix(string(b), want) {
			seen++
		} else {
			seen = 0
		}
	}
}

// lease: an open waits until the holder of a lease lets go.
func lease() {
	check("file", os.WriteFile("f", []byte("x"), 0o644))
	fd, err := unix.Open("f", unix.O_RDONLY, 0)
	check("open", err)
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGIO)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		fmt.Println("ok") // not every file system has leases
		return
	}
	w := openTimed("f", unix.O_WRONLY)
	<-c
	time.Sleep(50 * time.Millisecond)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	check("let go", err)
	r := <-w
	check("open for writing", r.err)
	if r.took < 40*time.Millisecond {
		fail("the open did not wait for the lease")
	}
	fmt.Println("ok")
}

// manyBlocked: any number of callers that wait stop nobody.
func manyBlocked() {
	const n = 600
	check("mkfifo", unix.Mkfifo("f", 0o644))
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			fd, err := unix.Open("f", unix.O_WRONLY|unix.O_CREAT, 0o644)
			check("blocked open", err)
			unix.Close(fd)
		}()
	}
	time.Sleep(300 * time.Millisecond)
	for i := range 100 { // would not come to an end if one of the opens held up the rest
		check("create", os.WriteFile("n"+strconv.Itoa(i), nil, 0o644))
	}
	fd, err := unix.Open("f", unix.O_RDONLY|unix.O_NONBLOCK, 0)
	check("reader", err)
	wg.Wait()
	unix.Close(fd)
	fmt.Println("ok")
}

func killedCallers() {
	check("mkfifo", unix.Mkfifo("f", 0o644))
	for range 30 {
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "echo > f"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
		check("start", err)
		time.Sleep(2 * time.Millisecond)
		check("kill", p.Kill())
		_, err = p.Wait()
		check("wait", err)
	}
	check("create", os.WriteFile("after", nil, 0o644))
	fmt.Println("ok")
}

func stoppedCaller() {
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "i=0; while :; do echo > g$i; i=$(((i+1)%50)); done"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	check("start", err)
	for range 50 {
		check("stop", p.Signal(syscall.SIGSTOP))
		check("create", os.WriteFile("beside", nil, 0o644))
		check("continue", p.Signal(syscall.SIGCONT))
		time.Sleep(time.Millisecond)
	}
	_ = p.Kill()
	_, _ = p.Wait()
	fmt.Println("ok")
}

func procAndTerminal() {
	if _, err := os.OpenFile("/dev/tty", os.O_WRONLY|os.O_CREATE, 0o644); !errors.Is(err, unix.ENXIO) {
		fail("/dev/tty without a terminal: %v", err)
	}
	own := os.Getpid()
	child, err := os.StartProcess("/bin/sleep", []string{"sleep", "10"}, &os.ProcAttr{})
	check("start", err)
	for path, want := range map[string]error{
		"/proc/self/comm":                                nil,
		"/proc/self/oom_score_adj":                       nil,
		fmt.Sprintf("/proc/%d/comm", own):                nil,
		"/proc/self/mem":                                 nil,
		fmt.Sprintf("/proc/%d/oom_score_adj", child.Pid): nil,
		fmt.Sprintf("/proc/%d/mem", child.Pid):           unix.EACCES,
		fmt.Sprintf("/proc/%d/environ", child.Pid):       unix.EACCES,
		"/proc/1/mem":                                    unix.EACCES,
		"/proc/self/nothing":                             unix.ENOENT,
	} {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CREAT, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		if !errors.Is(err, want) {
			fail("%s: %v, want %v", path, err, want)
		}
	}
	check("comm", os.WriteFile("/proc/self/comm", []byte("renamed"), 0o644))
	if b, _ := os.ReadFile("/proc/self/comm"); string(b) != "renamed\n" {
		fail("comm is %q", b)
	}
	_, w, err := os.Pipe()
	check("pipe", err)
	n := strconv.Itoa(int(w.Fd()))
	for _, path := range []string{"/dev/null", "/dev/fd/" + n, "/proc/self/fd/" + n, "/proc/thread-self/fd/" + n} {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND, 0o644)
		check(path, err)
		unix.Close(fd)
	}
	check("by own root", os.WriteFile(fmt.Sprintf("/proc/%d/cwd/viaproc", own), nil, 0o644))
	check("symlink", os.Symlink("/proc/self/cwd/viaproc", "plink"))
	if err := unix.Link("plink/", "second"); err != unix.ENOTDIR { // the slash follows the link, to the caller's file
		fail("link through /proc/self: %v", err)
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/cwd/other", child.Pid), nil, 0o644); !errors.Is(err, unix.EACCES) {
		fail("through another's cwd: %v", err)
	}
	_ = child.Kill()
	fmt.Println("ok")
}

// threadDirectory: a thread can have a working directory, a umask and descriptors of its own.
func threadDirectory() {
	time.Sleep(time.Millisecond) // makes the runtime open its descriptors before a thread has its own
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		check("unshare", unix.Unshare(unix.CLONE_FS|unix.CLONE_FILES))
		check("chdir", unix.Chdir("d"))
		unix.Umask(0o077)
		check("create", os.WriteFile("mine", nil, 0o666))
		done <- true
	}()
	<-done
	check("create", os.WriteFile("shared", nil, 0o666))
	st, err := os.Stat("d/mine")
	check("stat", err)
	if st.Mode() != 0o600 {
		fail("mode %v", st.Mode())
	}
	if st, err := os.Stat("shared"); err != nil || st.Mode() != 0o644 {
		fail("shared: %v %v", st, err)
	}
	fmt.Println("ok")
}
