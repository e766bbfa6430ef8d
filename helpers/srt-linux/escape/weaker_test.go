package escape

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

// Where system calls are supervised already, as some containers do, the kernel lets nobody else do it.

const listenerVar = "SRT_ESCAPE_LISTENER"

// weakened is the settings with enableWeakerNestedSandbox.
func weakened(settings string) string {
	return strings.Replace(strings.Replace(settings, "{", `{"enableWeakerNestedSandbox":true,`, 1), ",}", "}", 1)
}

// TestWeakerSandboxHolds runs the classes whose walls are mounts, namespaces and the filter where no supervisor can run.
func TestWeakerSandboxHolds(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	for _, name := range []string{"writes", "reads", "unix sockets", "processes", "kernel calls", "scope"} {
		t.Run(name, func(t *testing.T) {
			c := classes[name]
			got := c.run(t, name, srt, weaker)
			for _, a := range c.attacks {
				c.judge(t, a, got[a.name], weaker)
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
