package escape

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

// A hostile environment makes programs write a file outside as soon as they start. None of the programs that stand between srt and the
// command may do so, and the command itself cannot.

const preloaded = `#include <fcntl.h>
__attribute__((constructor)) static void attack(void) { open(MARK, O_CREAT | O_WRONLY, 0644); }
`

// hostile gives the variables and, by what makes it appear, the pattern of a file that shows that the attack worked.
func hostile(t *testing.T, base string) (env []string, marks map[string]string) {
	t.Helper()
	out, tools := filepath.Join(base, "out"), filepath.Join(base, "work", "tools")
	for _, d := range []string{out, tools} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, tools+"/start", "touch "+out+"/bash\n")
	for _, name := range []string{"bwrap", "srt-linux", "srt-linux-rpc", "proxyd", "sh", "bash", "env", "ip", "mount", "socat", "rg", "git", "newuidmap", "newgidmap"} {
		write(t, tools+"/"+name, "#!/bin/sh\n/usr/bin/touch "+out+"/path-"+name+"\n")
		if err := os.Chmod(tools+"/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, tools+"/p.c", preloaded)
	for _, lib := range []string{"preload", "audit"} {
		cc := exec.Command("cc", "-shared", "-fPIC", `-DMARK="`+out+"/"+lib+`"`, "-o", tools+"/"+lib+".so", tools+"/p.c")
		if text, err := cc.CombinedOutput(); err != nil {
			t.Fatalf("cc: %v\n%s", err, text)
		}
	}
	return []string{
			"LD_PRELOAD=" + tools + "/preload.so",
			"LD_AUDIT=" + tools + "/audit.so",
			"LD_DEBUG=files", "LD_DEBUG_OUTPUT=" + out + "/debug",
			"BASH_ENV=" + tools + "/start",
			"PATH=" + tools + "::/usr/bin:/bin",
			"HOME=" + base + "/work",
		}, map[string]string{"a preloaded library": "preload", "an auditing library": "audit", "a trace of the linker": "debug.*",
			"a start file of bash": "bash", "a program first on PATH": "path-*"}
}

func TestEnvironment(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "cc", "bash")
	srt := srttest.Built(t, "bin/srt")
	for name, argv := range map[string][]string{
		"srt":     {srt, "--", "/bin/true"},
		"control": {"/bin/bash", "-c", "bwrap --version; git"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			env, marks := hostile(t, base)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = filepath.Join(base, "work", "tools")
			cmd.Env = env
			text, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for attack, pattern := range marks {
				found, err := filepath.Glob(filepath.Join(base, "out", pattern))
				if err != nil || (len(found) > 0) != (name == "control") {
					t.Errorf("%s: left %q outside, %v", attack, found, err)
				}
			}
		})
	}
}

// What the wrapper adds to the environment is what it says, and nothing of its own stands in it.
func TestEnvironmentIsTheCallers(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	cmd := exec.Command(srt, "--", "/usr/bin/env", "-0")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "MINE=with\nlines", "LD_LIBRARY_PATH=/mine"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for _, v := range cmd.Env {
		if !slices.Contains(got, v) {
			t.Errorf("%q did not reach the command: %q", v, got)
		}
	}
	for _, v := range got {
		if strings.Contains(v, filepath.Dir(srt)) || strings.Contains(strings.ToLower(v), "libexec") {
			t.Errorf("%q tells where srt lies", v)
		}
	}
	if !slices.Contains(got, "SANDBOX_RUNTIME=1") {
		t.Error(fmt.Sprint("no SANDBOX_RUNTIME in ", got))
	}
}
