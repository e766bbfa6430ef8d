package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
)

// installReal copies the built programs to a place of the test's own, so that their processes can be told from all others.
func installReal(t *testing.T) (srt, dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, place := range []string{"bin/srt", "libexec/srt/srt-linux", "libexec/srt/proxyd"} {
		to := filepath.Join(dir, place)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(srttest.Built(t, place))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bin/srt"), dir
}

// processes lists those whose program or command line names dir, or whose command line holds mark.
func processes(t *testing.T, dir, mark string) map[int]string {
	t.Helper()
	found := map[int]string{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe, _ := os.Readlink("/proc/" + e.Name() + "/exe")
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if text := exe + " " + strings.ReplaceAll(string(line), "\x00", " "); strings.Contains(text, dir) || strings.Contains(text, mark) {
			found[pid] = text
		}
	}
	return found
}

// TestKillAtAnyMoment kills one process of the chain at a random moment: nothing may be left, and the command may not run on.
func TestKillAtAnyMoment(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "bash", "curl")
	srt, dir := installReal(t)
	if out, err := exec.Command(srt, "true").CombinedOutput(); err != nil {
		t.Fatalf("srt true: %v\n%s", err, out)
	}
	const rounds = 50
	for round := range rounds {
		mark := "6" + strconv.Itoa(1000+round) + "." + strconv.Itoa(os.Getpid())
		cmd := exec.Command(srt, "-c", "curl -s http://example.com/ >/dev/null; exec sleep "+mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(150 * time.Millisecond))
		victim := cmd.Process.Pid
		if round%2 == 1 { // any other process of the chain
			for pid, text := range processes(t, dir, mark) {
				if pid != victim && !strings.Contains(text, mark) {
					victim = pid
				}
			}
		}
		proxy := strings.Contains(processes(t, dir, mark)[victim], "proxyd")
		unix.Kill(victim, unix.SIGKILL)
		if proxy { // the command goes on without it
			unix.Kill(cmd.Process.Pid, unix.SIGTERM)
		}
		late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		if !late.Stop() {
			t.Fatalf("round %d: srt hung after the kill of %d", round, victim)
		}
		left := processes(t, dir, mark)
		for deadline := time.Now().Add(10 * time.Second); len(left) > 0 && time.Now().Before(deadline); left = processes(t, dir, mark) {
			time.Sleep(10 * time.Millisecond)
		}
		if len(left) > 0 {
			t.Fatalf("round %d, after the kill of %d: left %v", round, victim, left)
		}
	}
}
