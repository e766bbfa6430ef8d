package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

// with gives the processes whose command line holds text.
func with(t *testing.T, text string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && pid != os.Getpid() && bytes.Contains(line, []byte(text)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nobody waits until no process has text in its command line.
func nobody(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		pids := with(t, text)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("processes are left: %v", pids)
			return
		}
	}
}

func child(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(strings.Split(string(b), " ")[0]))
	return n
}

func TestDeathOfOneProcess(t *testing.T) {
	for name, c := range map[string]struct {
		victim func(m *Manager, c *Cmd) int
		wait   string // part of the error of Wait
		next   string // part of the error of the next command, "" when it runs
	}{
		"the helper": {func(m *Manager, _ *Cmd) int { return m.session.HelperPid() }, "the helper ended", "the helper ended"},
		"proxyd":     {func(m *Manager, _ *Cmd) int { return m.session.ProxyPid() }, "proxyd ended: every connection fails", "proxyd ended"},
		"bwrap":      {func(_ *Manager, c *Cmd) int { return c.x.Process.Pid }, "it ended without saying how the command did", ""},
		"the init":   {func(_ *Manager, c *Cmd) int { return child(c.x.Process.Pid) }, "it ended without saying how the command did", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := manager(t, Config{})
			mark := "1000." + strconv.Itoa(rand.Int())
			cmd := m.Shell(t.Context(), "sleep "+mark+" & echo up; read x; exit 0")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			syscall.Kill(c.victim(m, cmd), syscall.SIGKILL)
			if c.next != "" {
				for m.Err() == nil {
					time.Sleep(5 * time.Millisecond)
				}
				in.Write([]byte("x\n")) // the command goes on; one whose sandbox was killed must not get the chance to end well
			}
			if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), c.wait) {
				t.Errorf("Wait gives %v, want %s", err, c.wait)
			}
			err = m.Command(t.Context(), "true").Run()
			if c.next == "" && err != nil || c.next != "" && (err == nil || !strings.Contains(err.Error(), c.next)) {
				t.Errorf("the next command gives %v, want %q", err, c.next)
			}
			nobody(t, mark)
		})
	}
}

// Whatever is killed at whatever time, a command gives its right result or an error, and nothing is left.
func TestRandomDeaths(t *testing.T) {
	mark := "1000." + strconv.Itoa(rand.Int())
	m := manager(t, Config{})
	for i := range *deaths {
		if m.Err() != nil {
			m.Close()
			m = manager(t, Config{})
		}
		var wg sync.WaitGroup
		for j := range 4 {
			cmd := m.Shell(t.Context(), fmt.Sprintf("sleep %s & sleep 0.02; echo %d", mark, j))
			if j == 0 {
				kind := rand.IntN(4)
				wg.Go(func() {
					time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond)
					switch kind {
					case 0:
						if i%5 == 0 {
							syscall.Kill(m.session.HelperPid(), syscall.SIGKILL)
						}
					case 1:
						if i%5 == 0 {
							syscall.Kill(m.session.ProxyPid(), syscall.SIGKILL)
						}
					default:
						victims := with(t, libexec+"/srt-linux\x00init")
						if len(victims) > 0 {
							syscall.Kill(victims[rand.IntN(len(victims))], syscall.SIGKILL)
						}
					}
				})
			}
			wg.Go(func() {
				out, err := cmd.Output()
				if _, isExit := errors.AsType[*ExitError](err); isExit {
					t.Errorf("round %d: %v stands for a death of srt's own", i, err)
				}
				if err == nil && string(out) != fmt.Sprintf("%d\n", j) {
					t.Errorf("round %d: output %q without an error", i, out)
				}
			})
		}
		wg.Wait()
	}
	m.Close()
	nobody(t, mark)
	nobody(t, libexec)
}

// embed is the program of TestNothingOutlivesTheProgram: it runs a command and waits to be killed.
func embed(dir, line string) {
	m, err := New(context.Background(), Config{}, WithLibexec(dir))
	if err == nil {
		cmd := m.Shell(context.Background(), line)
		cmd.Stdout = os.Stdout
		err = cmd.Start()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	time.Sleep(time.Hour)
}

func TestNothingOutlivesTheProgram(t *testing.T) {
	srttest.RequireBwrap(t)
	if libexec == "" {
		t.Fatal(problem)
	}
	mark := "1000." + strconv.Itoa(rand.Int())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := filepath.Glob("/tmp/srt-" + strings.Repeat("[0-9a-f]", 24))
	x := exec.Command(self, "embed", libexec, "setsid sleep "+mark+" & echo up; sleep "+mark)
	out, err := x.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	n, _ := out.Read(text)
	x.Process.Kill()
	x.Wait()
	if string(text[:n]) != "up\n" {
		t.Fatalf("the program says %q", text[:n])
	}
	nobody(t, mark)
	nobody(t, libexec)
	if after, _ := filepath.Glob("/tmp/srt-" + strings.Repeat("[0-9a-f]", 24)); len(after) > len(before) {
		t.Errorf("left are %q", after)
	}
}
