package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCommandLikeExec(t *testing.T) {
	m := manager(t, Config{Filesystem: FilesystemConfig{AllowWrite: Paths(".")}})
	for name, c := range map[string]struct {
		args   []string
		stdin  string
		stdout string
		status int
		signal syscall.Signal
	}{
		"its output":            {[]string{"echo", "hello"}, "", "hello\n", 0, 0},
		"its input":             {[]string{"cat"}, strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20), 0, 0},
		"its status":            {[]string{"sh", "-c", "echo a; exit 7"}, "", "a\n", 7, 0},
		"the signal":            {[]string{"sh", "-c", "kill -9 $$"}, "", "", -1, syscall.SIGKILL},
		"a write that is fine":  {[]string{"sh", "-c", "echo x > f && cat f"}, "", "x\n", 0, 0},
		"a write that is not":   {[]string{"sh", "-c", "echo x > /etc/srt-test 2>/dev/null"}, "", "", 2, 0},
		"no descriptor else":    {[]string{"sh", "-c", "ls /proc/self/fd | wc -l"}, "", "4\n", 0, 0},
		"its own process group": {[]string{"sh", "-c", `test "$(cut -d" " -f5 /proc/self/stat)" = $$ && echo yes`}, "", "yes\n", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := m.Command(t.Context(), c.args[0], c.args[1:]...)
			cmd.Stdin = strings.NewReader(c.stdin)
			out, err := cmd.Output()
			if string(out) != c.stdout {
				t.Errorf("stdout %.100q, want %.100q", out, c.stdout)
			}
			if c.status == 0 {
				if err != nil || !cmd.ProcessState.Success() {
					t.Errorf("error %v, state %v", err, cmd.ProcessState)
				}
				return
			}
			e, ok := errors.AsType[*ExitError](err)
			if !ok || e.ExitCode() != c.status || e.Signal() != c.signal {
				t.Fatalf("error %v, want status %d, signal %v", err, c.status, c.signal)
			}
			x, ok := errors.AsType[*exec.ExitError](err)
			if want := max(c.status, 128+int(c.signal)*min(1, int(c.signal))-128*(1-min(1, int(c.signal)))); !ok || x.ExitCode() != want {
				t.Errorf("as an error of os/exec: %v, want status %d", x, want)
			}
		})
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	m := manager(t, Config{})
	for name, want := range map[string]struct{ code, text string }{
		"no-such-program":   {"not-found", `run "no-such-program": command not found`},
		"/etc/passwd":       {"not-exec", `run "/etc/passwd": permission denied`},
		"/no/such/program":  {"not-found", `run "/no/such/program": command not found`},
		"a name\nwith\x1b[": {"not-found", `run "a name\nwith\x1b[": command not found`},
	} {
		cmd := m.Command(t.Context(), name)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.Run()
		if f, ok := errors.AsType[*Fault](err); !ok || f.Code != want.code || f.Error() != want.text {
			t.Errorf("%q gives %v, want %s", name, err, want.text)
		}
		if _, err := out.Read(make([]byte, 1)); err == nil {
			t.Errorf("%q left its pipe open", name)
		}
	}
}

func TestPipesAndFiles(t *testing.T) {
	m := manager(t, Config{})
	cmd := m.Command(t.Context(), "sh", "-c", "cat; echo err >&2; cat <&3; cat <&5")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	for _, text := range []string{"three", "", "five"} {
		if text == "" {
			cmd.ExtraFiles = append(cmd.ExtraFiles, nil)
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		w.WriteString(text)
		w.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, r)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err == nil || err.Error() != "sandbox: the command was started already" {
		t.Errorf("a second start: %v", err)
	}
	in.Write([]byte("in "))
	in.Close()
	text := make([]byte, 10)
	n, _ := stderr.Read(text)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "in threefive" || string(text[:n]) != "err\n" {
		t.Errorf("stdout %q, stderr %q", out.String(), text[:n])
	}
}

func TestContextEndsTheTree(t *testing.T) {
	m := manager(t, Config{Filesystem: FilesystemConfig{AllowWrite: Paths(".")}})
	for name, c := range map[string]struct {
		line  string
		grace time.Duration
		want  string // what the command still wrote
	}{
		"with a chance to clean up": {`trap 'echo bye > said; exit 0' TERM; echo up > up; while :; do sleep 0.05; done`, 0, "bye\n"},
		"that ignores SIGTERM":      {`trap '' TERM; (trap '' TERM; sleep 1000) & echo up > up; while :; do sleep 0.05; done`, 200 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(filepath.Join(m.o.dir, "up"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd := m.Command(ctx, "sh", "-c", c.line)
			cmd.Grace = c.grace
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for {
				if _, err := os.Stat(filepath.Join(m.o.dir, "up")); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			start := time.Now()
			cancel()
			err := cmd.Wait()
			said, _ := os.ReadFile(filepath.Join(m.o.dir, "said"))
			os.Remove(filepath.Join(m.o.dir, "said"))
			if string(said) != c.want || time.Since(start) > 20*time.Second {
				t.Errorf("said %q after %v, want %q", said, time.Since(start), c.want)
			}
			if c.want == "" && !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want the context's", err)
			}
			if syscall.Kill(cmd.Process.Pid, 0) == nil {
				t.Error("the command is still there")
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Command(ctx, "true").Run(); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended gives %v", err)
	}
}

func TestWrap(t *testing.T) {
	m := manager(t, Config{})
	for name, c := range map[string]struct {
		args   []string
		out    string
		status int
		fault  string
	}{
		"its output and status": {[]string{"sh", "-c", "echo out; exit 3"}, "out\n", 3, ""},
		"its signal":            {[]string{"sh", "-c", "kill -TERM $$"}, "", 143, ""},
		"not found":             {[]string{"no-such-program"}, "", 125, `run "no-such-program": command not found`},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := m.Command(t.Context(), c.args[0], c.args[1:]...).Wrap()
			if err != nil {
				t.Fatal(err)
			}
			x := exec.Cmd{Path: w.Argv[0], Args: w.Argv, Env: w.Env, Dir: w.Dir, ExtraFiles: w.Files, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
			out, _ := x.Output()
			fault := ""
			if err := w.Finish(); err != nil {
				fault = err.Error()
			}
			if string(out) != c.out || x.ProcessState.ExitCode() != c.status || fault != c.fault {
				t.Errorf("output %q, status %d, fault %q", out, x.ProcessState.ExitCode(), fault)
			}
		})
	}
	w, err := m.Command(t.Context(), "true").Wrap()
	if err != nil {
		t.Fatal(err)
	}
	w.Cancel()
}
