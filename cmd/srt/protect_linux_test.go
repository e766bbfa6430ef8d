package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

// A rename over a protected file on the host takes the mount away in the sandbox; the guard puts it back. The command tries to write
// every few milliseconds meanwhile.
func TestFileThatTheHostReplacesIsProtectedAgain(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "bash")
	srt, _ := installReal(t)
	dir := t.TempDir()
	conf := filepath.Join(dir, "conf")
	replace := func(text string) {
		if err := os.WriteFile(conf+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(conf+".new", conf); err != nil {
			t.Fatal(err)
		}
	}
	replace("0\n")
	ready := filepath.Join(dir, "ready")
	cmd := exec.Command(srt, "--settings", settingsFile(t, `{"filesystem":{"allowWrite":["."],"denyWrite":["conf"]}}`), "-c",
		`touch ready; for i in {1..200}; do sleep 0.02; (echo planted >>conf) 2>/dev/null; done; (echo last >>conf) 2>/dev/null && echo written`)
	cmd.Dir = dir
	out := new(strings.Builder)
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the command did not start")
		}
	}
	const rounds = 20
	for i := range rounds {
		replace(fmt.Sprintln(i))
		time.Sleep(100 * time.Millisecond)
		if b, err := os.ReadFile(conf); err != nil || strings.Contains(string(b), "planted") {
			t.Logf("round %d: written in the moment before it was protected again", i)
		}
	}
	replace("end\n")
	if err := cmd.Wait(); err != nil {
		t.Logf("the command ended with %v, as its last write failed", err)
	}
	if strings.Contains(out.String(), "written") {
		t.Error("the last write went through, long after the last replacement")
	}
	if b, err := os.ReadFile(conf); err != nil || strings.Contains(string(b), "last") {
		t.Errorf("conf: %q, %v", b, err)
	}
}

// An entry with pattern characters names the path of exactly that name as well, also where the working directory has such characters.
func TestAnEntryNamesWhatIsCalledSo(t *testing.T) {
	srttest.RequireBwrap(t)
	srt, _ := installReal(t)
	dir := filepath.Join(t.TempDir(), "[work]")
	for _, f := range []string{"[id]/page", "a[b/page"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"[id]", "a[b"} {
		out, _ := withSettings(t, srt, dir, fmt.Sprintf(`{"filesystem":{"denyRead":[%q]}}`, name), "cat", name+"/page")
		if want := "cat: '" + name + "/page': No such file or directory\n"; out != want {
			t.Errorf("got %q, want %q", out, want)
		}
	}
}

func TestThousandsOfDeniedPaths(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "bash")
	srt, _ := installReal(t)
	dir := t.TempDir()
	const n = 3000
	var entries []string
	for i := range n {
		name := fmt.Sprintf("f%d", i)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, fmt.Sprintf("%q", name))
	}
	settings := `{"filesystem":{"allowWrite":["."],"denyWrite":[` + strings.Join(entries, ",") + `]}}`
	out, err := withSettings(t, srt, dir, settings, "-c", `for i in 0 1499 2999; do (echo x >f$i) 2>/dev/null && echo wrote $i; done; echo x >free && echo free`)
	if err != nil || strings.TrimSpace(out) != "free" {
		t.Errorf("%v\n%s", err, out)
	}
}

// A command that may write where srt is installed changes none of the programs that run outside a sandbox, in this run, the next one or a
// session, and makes none that is missing.
func TestProgramsOfTheInstallationAreProtected(t *testing.T) {
	srttest.RequireBwrap(t)
	srt, dir := installReal(t)
	there, missing := "bin/srt libexec/srt/srt-linux libexec/srt/proxyd", "libexec/srt/srt-linux-rpc libexec/srt/proxyd-rpc"
	cmd := exec.Command(srt, "--settings", settingsFile(t, `{"filesystem":{"allowWrite":["."]}}`), "-c",
		`touch free || exit
		for p in `+there+`; do (echo >>$p) 2>/dev/null && echo "$p is written"; mv $p x 2>/dev/null && echo "$p is moved"; done
		for p in `+missing+`; do (echo >$p) 2>/dev/null && echo "$p is made"; mv free $p 2>/dev/null && echo "$p is moved there"; done
		mv libexec elsewhere 2>/dev/null && echo "the directory is moved"; test -e free && echo "the rest is writable"`)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if want := "the rest is writable\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%swant\n%s", err, out, want)
	}
	for _, p := range strings.Fields(there) {
		before, err := os.ReadFile(srttest.Built(t, p))
		if err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(filepath.Join(dir, p)); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed: %v", p, err)
		}
	}
	for _, p := range strings.Fields(missing) {
		if _, err := os.Lstat(filepath.Join(dir, p)); !os.IsNotExist(err) {
			t.Errorf("%s was made: %v", p, err)
		}
	}
}
