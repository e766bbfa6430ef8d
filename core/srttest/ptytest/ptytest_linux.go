package ptytest

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

// Keys that a terminal turns into signals (termios(3): VINTR, VQUIT, VSUSP).
const (
	CtrlC         = "\x03"
	CtrlBackslash = "\x1c"
	CtrlZ         = "\x1a"
)

// patience bounds every wait; it is for what hangs, not for a slow machine.
const patience = 30 * time.Second

// Terminal is a pseudo-terminal with a program that leads its session.
type Terminal struct {
	Master *os.File // what the keyboard and the screen are connected to

	t   testing.TB
	cmd *exec.Cmd
	mu  sync.Mutex
	out string
}

// Start runs cmd on a terminal of its own; without stdin only its output goes there. When the test ends, it is killed.
func Start(t testing.TB, cmd *exec.Cmd, stdin bool) *Terminal {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("a pseudo-terminal is needed: %v", err)
	}
	p := &Terminal{Master: os.NewFile(uintptr(fd), "ptmx"), t: t, cmd: cmd}
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
	cmd.Stdout, cmd.Stderr = slave, slave
	if stdin {
		cmd.Stdin = slave
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.Master.Close()
	})
	return p
}

// watch keeps what is written to the screen, until the terminal is gone.
func (p *Terminal) watch() {
	b := make([]byte, 4096)
	for {
		n, err := p.Master.Read(b)
		p.mu.Lock()
		p.out += string(b[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Text gives the output since the last Expect, with the terminal's line ends as they are.
func (p *Terminal) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}

// Expect waits until the output holds text, and forgets the output up to there. The test fails when that does not come.
func (p *Terminal) Expect(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		_, after, found := strings.Cut(p.out, text)
		if found {
			p.out = after
		}
		p.mu.Unlock()
		if found {
			return
		}
	}
	p.t.Fatalf("no %q in:\n%s", text, p.Text())
}

// Type sends keys.
func (p *Terminal) Type(keys string) {
	p.t.Helper()
	if _, err := p.Master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// Status waits for the program and gives its exit status, -1 for one that a signal ended.
func (p *Terminal) Status() int {
	p.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = p.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("it does not end; output:\n%s", p.Text())
		return -1
	}
}
