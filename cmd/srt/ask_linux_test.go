package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
)

// typeAt runs srt with a fake helper on a terminal. Its proxyd asks about every connection.
type typeAt struct {
	t      *testing.T
	home   string
	master *os.File
	cmd    *exec.Cmd
	mu     sync.Mutex
	out    string
}

func onTerminal(t *testing.T, stdin bool, args ...string) *typeAt {
	t.Helper()
	dir := t.TempDir()
	if err := install(dir); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
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
		t.Fatal(err)
	}
	defer slave.Close()
	p := &typeAt{t: t, home: t.TempDir(), master: os.NewFile(uintptr(fd), "ptmx"), cmd: exec.Command(filepath.Join(dir, "bin/srt"), args...)}
	p.cmd.Stdout, p.cmd.Stderr = slave, slave
	if stdin {
		p.cmd.Stdin = slave
	}
	p.cmd.Env = []string{"HOME=" + p.home, "PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := p.master.Read(b)
			p.mu.Lock()
			p.out += string(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait(); p.master.Close() })
	return p
}

// expect waits for text and forgets what came before it.
func (p *typeAt) expect(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.Fatalf("no %q in:\n%s", text, p.out)
}

func (p *typeAt) write(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

const connectTwice = `answer() { exec 3<>/dev/tcp/127.0.0.1/$FAKE_PORT && cat <&3; }; echo "first=$(answer)"; echo "second=$(answer)"; read -t 20 x; echo "read=$x"`

const question = "allow it [o]nce, for this [r]un, [s]ave to settings, [d]eny? "

func TestAsk(t *testing.T) {
	srttest.RequireTool(t, "bash")
	for name, tc := range map[string]struct {
		stdin   bool
		answers []string // one per question
		expect  []string
		saved   string
	}{
		"deny, and not asked again":            {true, []string{"d"}, []string{"first=false", "second=false"}, ""},
		"for this run, and not asked again":    {true, []string{"r"}, []string{"first=true", "second=true"}, ""},
		"once, and asked again":                {true, []string{"once", "n"}, []string{"second=false"}, ""},
		"saved":                                {true, []string{"s"}, []string{"saved to ", "first=true", "second=true"}, `{"network":{"allowedDomains":["example.com:8080"]}}` + "\n"},
		"an answer that is none, then another": {true, []string{"what\no, r, s or d? r"}, []string{"first=true"}, ""},
		"no stdin":                             {false, []string{"r"}, []string{"first=true", "second=true"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := onTerminal(t, tc.stdin, "--ask", "-c", connectTwice)
			for _, a := range tc.answers {
				p.expect("srt: the command wants to reach example.com:8080")
				p.expect(question)
				first, rest, more := strings.Cut(a, "\n")
				p.write(first + "\n")
				if more {
					i := strings.LastIndexByte(rest, ' ')
					p.expect(rest[:i+1])
					p.write(rest[i+1:] + "\n")
				}
			}
			for _, text := range tc.expect {
				p.expect(text)
			}
			if tc.stdin { // the command has its terminal back
				p.write("line\n")
				p.expect("read=line")
			}
			saved, _ := os.ReadFile(filepath.Join(p.home, ".srt-settings.json"))
			if string(saved) != tc.saved {
				t.Errorf("saved %q, want %q", saved, tc.saved)
			}
		})
	}
}

func TestAskIsNotAskedOfARawTerminal(t *testing.T) {
	srttest.RequireTool(t, "bash", "stty")
	p := onTerminal(t, true, "--ask", "-c", "stty raw -echo; "+connectTwice)
	p.expect("first=false")
	p.expect("second=false")
}

func TestAskWithoutTerminal(t *testing.T) {
	srttest.RequireTool(t, "bash")
	dir := t.TempDir()
	if err := install(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "bin/srt"), "--ask", "-c", connectTwice)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "first=false\nsecond=false\n") {
		t.Errorf("got %q, %v", out, err)
	}
}
