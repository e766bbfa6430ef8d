package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestDeaths(t *testing.T) {
	for name, c := range map[string]struct {
		kill func(s *Session, c *Command, x *exec.Cmd) int
		want func(s *Session) string // of the session from then on, "" when it goes on
		ends string                  // of the command, when that is not the session's
	}{
		"the helper": {func(s *Session, _ *Command, _ *exec.Cmd) int { return s.HelperPid() }, func(s *Session) string { return fmt.Sprintf("watch %q: the helper ended", s.o.Helper) }, ""},
		"proxyd": {func(s *Session, _ *Command, _ *exec.Cmd) int { return s.ProxyPid() }, func(s *Session) string {
			return fmt.Sprintf("watch %q: proxyd ended: every connection fails", s.o.Proxy)
		}, ""},
		"the wrapper": {func(_ *Session, _ *Command, x *exec.Cmd) int { return x.Process.Pid }, func(*Session) string { return "" }, "run the sandbox: it ended without saying how the command did"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{})
			cmd, err := s.Prepare(t.Context(), request("c", "good", "read x; exit 4"), none, nil)
			if err != nil {
				t.Fatal(err)
			}
			x := exec.Cmd{}
			in, _ := x.StdinPipe()
			if err := cmd.Start(t.Context(), &x); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(c.kill(s, cmd, &x), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			want := c.want(s)
			if want != "" {
				for s.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				in.Close() // the command goes on to its end
			}
			_ = x.Wait()
			if err := cmd.Finish(); !says(err, want+c.ends) {
				t.Errorf("Finish gives %v, want %s", err, want+c.ends)
			}
			if exit, known := cmd.Exit(); known != (want != "") || known && exit.Code != 4 {
				t.Errorf("exit %+v, known %v", exit, known)
			}
			o := run(t.Context(), s, request("d", "good", "echo RAN"), none)
			if !says(o.prepare, want) || (o.out != "") != (want == "") {
				t.Errorf("the next command: %+v", o)
			}
			if err := s.Configure(t.Context(), config()); !says(err, want) {
				t.Errorf("Configure gives %v", err)
			}
		})
	}
	s := open(t, Options{})
	if o := run(t.Context(), s, request("c", "good", "exit 0"), allow("die")); o.finish == nil || !strings.Contains(o.finish.Error(), "proxyd ended") {
		t.Errorf("proxyd dies of the command: %+v", o)
	}
}

func TestStartFails(t *testing.T) {
	dir := fakes(t)
	good, dead, missing := filepath.Join(dir, "fake-helper"), filepath.Join(dir, "fake-dead"), filepath.Join(dir, "missing")
	before := census(t)
	for name, c := range map[string]struct{ helper, proxy, want string }{
		"a helper that ends":    {dead, filepath.Join(dir, "fake-proxyd"), fmt.Sprintf("start %q: the peer ended without an answer", dead)},
		"a proxyd that ends":    {good, dead, fmt.Sprintf("start %q: the peer ended without an answer", dead)},
		"a helper that is none": {missing, filepath.Join(dir, "fake-proxyd"), fmt.Sprintf("start %q: no such file or directory", missing)},
	} {
		if s, err := Start(t.Context(), Options{Helper: c.helper, Proxy: c.proxy}, config()); s != nil || !says(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := Start(ctx, Options{Helper: good, Proxy: filepath.Join(dir, "fake-proxyd")}, config()); s != nil || err == nil || !strings.HasSuffix(err.Error(), "context canceled") {
		t.Errorf("a context that has ended: %v", err)
	}
	if s, err := Start(t.Context(), Options{Helper: good, Proxy: filepath.Join(dir, "fake-proxyd")}, config("bad")); s != nil || !says(err, `parse "bad": not a domain`) {
		t.Errorf("a configuration that is refused: %v", err)
	}
	same(t, before)
}

func TestCloseEndsEverything(t *testing.T) {
	before := census(t)
	s := open(t, Options{})
	var wg sync.WaitGroup
	var up sync.WaitGroup
	for i := range 5 {
		up.Add(1)
		wg.Go(func() {
			c, err := s.Prepare(t.Context(), request(fmt.Sprint(i), "good", "sleep 1000 & sleep 1000"), none, nil)
			if err != nil {
				t.Error(err)
				return
			}
			var x exec.Cmd
			if err := c.Start(t.Context(), &x); err != nil {
				t.Error(err)
			}
			up.Done()
			_ = x.Wait()
			if err := c.Finish(); err != nil {
				t.Errorf("Finish gives %v: whoever closes knows", err)
			}
			if _, known := c.Exit(); known {
				t.Error("it is said to have ended by itself")
			}
			if err := c.Signal(syscall.SIGTERM, true); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("Signal after the end: %v", err)
			}
		})
	}
	up.Wait()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if o := run(t.Context(), s, request("late", "good", "echo RAN"), none); !says(o.prepare, "use the session: it is closed") || o.out != "" {
		t.Errorf("after Close: %+v", o)
	}
	same(t, before)
}

// A start that meets Close, or the end of its context, is an error or a command that is ended; nothing hangs.
func TestStartMeetsItsEnd(t *testing.T) {
	before := census(t)
	for i := range 12 {
		s := open(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if o := run(ctx, s, request("c", "good", "sleep 1000"), none); o.known {
					t.Errorf("it ended by itself: %+v", o)
				}
			})
		}
		time.Sleep(time.Duration(i) * 3 * time.Millisecond)
		if i%2 == 0 {
			s.Close()
		}
		cancel()
		go func() { // run does not watch its context once the command runs
			s.Close()
		}()
		wg.Wait()
		s.Close()
	}
	same(t, before)
}

func TestHelperThatHangs(t *testing.T) {
	s := open(t, Options{Limit: 6 * time.Second}) // long enough for the start of both on a busy machine
	o := run(t.Context(), s, request("c", "never planned", ""), none)
	if want := "the peer did not answer in time"; o.prepare == nil || !strings.Contains(o.prepare.Error(), want) {
		t.Errorf("error %v, want %s", o.prepare, want)
	}
	if o := run(t.Context(), s, request("c", "good", "echo RAN"), none); o.prepare == nil || o.out != "" {
		t.Errorf("the next command: %+v", o)
	}
}

// counts are what a session may not leave: goroutines, descriptors, children.
type counts struct{ goroutines, descriptors, children int }

func census(t *testing.T) (c counts) {
	t.Helper()
	c.goroutines = runtime.NumGoroutine()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tasks {
		b, _ := os.ReadFile(f) // the thread has ended
		c.children += len(strings.Fields(string(b)))
	}
	c.descriptors = len(fds)
	return c
}

// same waits until nothing is there that was not there before.
func same(t *testing.T, before counts) {
	t.Helper()
	const poller = 4 // descriptors that the Go runtime itself opens once, and the one that reads the directory
	var now counts
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		if now = census(t); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors+poller && now.children <= before.children {
			return
		}
	}
	b := make([]byte, 1<<20)
	t.Errorf("%+v became %+v\n%s", before, now, b[:runtime.Stack(b, true)])
}
