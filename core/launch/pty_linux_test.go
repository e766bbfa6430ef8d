package launch

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pty is a terminal with a process in a session of its own.
type pty struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu  sync.Mutex
	out strings.Builder
}

func startPty(t *testing.T, stdin bool, path string, args ...string) *pty {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("a pseudo-terminal is needed: %v", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("a pseudo-terminal is needed: %v", err)
	}
	defer slave.Close()
	p := &pty{t: t, master: os.NewFile(uintptr(fd), "ptmx"), cmd: exec.Command(path, args...)}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if !stdin {
		p.cmd.Stdin = nil
	}
	p.cmd.Env = append(os.Environ(), "PS1=prompt> ", "HISTFILE=", "TERM=dumb")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := p.master.Read(b)
			p.mu.Lock()
			p.out.Write(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		p.master.Close()
	})
	return p
}

func (p *pty) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.out.String(), "\r", "")
}

// expect waits until the output holds text, and forgets the output up to there.
func (p *pty) expect(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		all := p.out.String()
		if i := strings.Index(all, text); i >= 0 {
			p.out.Reset()
			p.out.WriteString(all[i+len(text):])
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
	}
	p.t.Fatalf("no %q in:\n%s", text, p.text())
}

func (p *pty) write(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// status waits for the process and gives its exit status.
func (p *pty) status() int {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case <-done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		p.t.Fatalf("it does not end; output:\n%s", p.text())
		return -1
	}
}
