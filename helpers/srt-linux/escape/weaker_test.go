package escape

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
	"golang.org/x/sys/unix"
)

// Where system calls are supervised already, as some containers do, the kernel lets nobody else do it; and where parts of /proc are covered,
// as most containers do, it lets nobody mount another.

const (
	listenerVar  = "SRT_ESCAPE_LISTENER"
	containerVar = "SRT_ESCAPE_CONTAINER"
)

// weakened is the settings with enableWeakerNestedSandbox.
func weakened(settings string) string {
	return strings.Replace(strings.Replace(settings, "{", `{"enableWeakerNestedSandbox":true,`, 1), ",}", "}", 1)
}

// holds runs the classes whose walls are mounts, namespaces and the filter where no supervisor can run.
func holds(t *testing.T, way how) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	for _, name := range []string{"writes", "reads", "unix sockets", "processes", "kernel calls", "scope"} {
		t.Run(name, func(t *testing.T) {
			c := classes[name]
			got := c.run(t, name, srt, way)
			for _, a := range c.attacks {
				c.judge(t, a, got[a.name], way)
			}
		})
	}
}

func TestWeakerSandboxHolds(t *testing.T) { holds(t, weaker) }

func TestSandboxInAContainerHolds(t *testing.T) {
	srttest.RequireRoot(t)
	holds(t, contained)
}

// inContainer, started by root in a mount namespace of its own, covers a part of /proc, as containers do, so that the kernel lets nobody inside mount a fresh one,
// and becomes argv.
func inContainer(argv []string) error {
	runtime.LockOSThread()
	if err := os.Unsetenv(containerVar); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	if err := unix.Mount("/proc/sys", "/proc/sys", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("cover /proc/sys: %w", err)
	}
	return unix.Exec(argv[0], argv, os.Environ())
}

func TestContainerWithoutAFreshProc(t *testing.T) {
	srttest.RequireRoot(t)
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	for name, c := range map[string]struct {
		settings string
		status   int
		says     []string
	}{
		"it is refused": {"{}", 125, []string{"srt: error: start the sandbox: the kernel allows no fresh /proc, because /proc/sys of this one is covered",
			"docker run --security-opt systempaths=unconfined", "or set enableWeakerNestedSandbox"}},
		"it is weaker": {weakened("{}"), 7, []string{"srt: warning: the kernel allows no fresh /proc in this container: the command sees the names and command lines"}},
	} {
		t.Run(name, func(t *testing.T) {
			settings := filepath.Join(t.TempDir(), "settings.json")
			write(t, settings, c.settings)
			cmd := exec.Command("/proc/self/exe", srt, "--settings", settings, "-c", "exit 7")
			cmd.Env, cmd.SysProcAttr = append(cmd.Environ(), containerVar+"=1"), &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("exit status %d", got)
			}
			for _, want := range c.says {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr lacks %q:\n%s", want, stderr.String())
				}
			}
			if strings.Contains(stderr.String(), "bwrap:") {
				t.Errorf("bubblewrap speaks for srt:\n%s", stderr.String())
			}
		})
	}
}

func TestNoSupervisorCanRun(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	for name, c := range map[string]struct {
		weaker bool
		status int
		says   []string
	}{
		"it is refused":               {false, 125, []string{"this process tree already has a system call listener", "or set enableWeakerNestedSandbox"}},
		"what was broken is reported": {true, 0, []string{`/missing": made by this command`, `/deep/a.key": made by this command`, `/.zshrc": made by this command`, `/kept": put in another's place`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/sub/kept", "kept")
			text := `{"filesystem":{"allowWrite":["."],"denyWrite":["missing","**/*.key","sub/kept"]}}`
			if c.weaker {
				text = weakened(text)
			}
			settings := filepath.Join(t.TempDir(), "settings.json")
			write(t, settings, text)
			cmd := exec.Command("/proc/self/exe", srt, "--violations", "--settings", settings, "-c",
				"touch missing free .zshrc; mkdir deep; touch deep/a.key; mv sub old; mkdir sub; echo other >sub/kept")
			cmd.Dir, cmd.Env = dir, append(cmd.Environ(), listenerVar+"=1")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			status := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				status = exit.ExitCode()
			}
			if status != c.status {
				t.Errorf("exit status %d, %v", status, err)
			}
			for _, want := range c.says {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr lacks %q:\n%s", want, stderr.String())
				}
			}
			if strings.Contains(stderr.String(), "/free") {
				t.Errorf("a name that no rule mentions is reported:\n%s", stderr.String())
			}
		})
	}
}

// The guard over protected files works there too: what the host puts in the place of one is covered again.
func TestGuardInAContainer(t *testing.T) {
	srttest.RequireRoot(t)
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	dir := t.TempDir()
	write(t, dir+"/conf", "old\n")
	settings := filepath.Join(t.TempDir(), "settings.json")
	write(t, settings, weakened(`{"filesystem":{"allowWrite":["."],"denyWrite":["conf"]}}`))
	cmd := exec.Command("/proc/self/exe", srt, "--settings", settings, "-c",
		`touch ready; while [ "$(cat conf)" != new ]; do sleep 0.02; done; sleep 1; (echo planted >>conf) 2>/dev/null && echo written; touch reached`)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(cmd.Environ(), containerVar+"=1"), &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir + "/ready"); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the command did not start")
		}
	}
	write(t, dir+"/conf.new", "new\n")
	if err := os.Rename(dir+"/conf.new", dir+"/conf"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/reached"); err != nil {
		t.Error("the command did not get to its write")
	}
	if b, err := os.ReadFile(dir + "/conf"); err != nil || string(b) != "new\n" || out.Len() > 0 {
		t.Errorf("the file was written: %q, %v, %s", b, err, out.String())
	}
}
