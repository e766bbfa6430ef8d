package pidfd

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signal func(*Process) error
		group  bool // everybody in the group gets it
	}{
		"the process alone": {func(p *Process) error { return p.Signal(unix.SIGTERM) }, false},
		"its group":         {func(p *Process) error { return p.SignalGroup(unix.SIGTERM) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := exec.Command("sh", "-c", "sleep 1000 & echo up; wait")
			x.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := x.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Start(); err != nil {
				t.Fatal(err)
			}
			defer syscall.Kill(-x.Process.Pid, syscall.SIGKILL)
			if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			fd, err := unix.PidfdOpen(x.Process.Pid, 0)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Take(fd)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if p.Pid() != x.Process.Pid || p.Gone(0) {
				t.Fatalf("pid %d, gone %v, want %d and running", p.Pid(), p.Gone(0), x.Process.Pid)
			}
			if err := c.signal(p); err != nil {
				t.Fatal(err)
			}
			if !p.Gone(20 * time.Second) {
				t.Fatal("it still runs")
			}
			left := syscall.Kill(-x.Process.Pid, 0) == nil // before Wait the leader itself is in it too
			_ = x.Wait()
			left = left && syscall.Kill(-x.Process.Pid, 0) == nil
			if !c.group && !left {
				t.Error("the rest of the group got it too")
			}
			if c.group {
				for end := time.Now().Add(20 * time.Second); syscall.Kill(-x.Process.Pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the rest of the group did not get it")
					}
				}
			}
			if err := p.Signal(0); err != unix.ESRCH {
				t.Errorf("after its end: %v", err)
			}
			if err := p.SignalGroup(unix.SIGTERM); err != unix.ESRCH && (c.group || err != nil) {
				t.Errorf("the group after its leader's end: %v", err)
			}
		})
	}
}

func TestWhatIsNoPidfd(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(fd); err == nil || !strings.HasSuffix(err.Error(), " is no pidfd") {
		t.Errorf("error %v", err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("it was left open: %v", err)
	}
}
