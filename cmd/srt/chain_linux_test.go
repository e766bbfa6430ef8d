package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
)

// No shell, no relay, no search program stands in the chain.
func TestNothingIsExecutedButTheChain(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "strace")
	srt, dir := installReal(t)
	log := filepath.Join(t.TempDir(), "strace")
	if out, err := exec.Command("strace", "-f", "-e", "trace=execve,execveat", "-o", log, srt, "/bin/true").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	for _, m := range regexp.MustCompile(`exec\w+\("([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		ran = append(ran, m[1])
	}
	if want := []string{srt, "/usr/bin/bwrap", filepath.Join(dir, "libexec/srt/srt-linux"), "/bin/true"}; !slices.Equal(ran, want) {
		t.Errorf("executed %q, want %q", ran, want)
	}
}

// The command's timers are as exact as its caller's, although those of the processes between are coarse.
func TestCommandHasTheTimerSlackOfTheCaller(t *testing.T) {
	srttest.RequireBwrap(t)
	srt, _ := installReal(t)
	runtime.LockOSThread() // never unlocked: the thread ends here
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 123_456, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"cat", "/proc/self/timerslack_ns"}, {srt, "cat", "/proc/self/timerslack_ns"}} {
		if got, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil || string(got) != "123456\n" {
			t.Errorf("%q: %q (%v)", argv, got, err)
		}
	}
}

// Whoever schedules srt schedules the command: a real-time policy, under which the kernel knows no timer slack, a batch job, a nice one.
func TestCommandIsScheduledAsTheCaller(t *testing.T) {
	srttest.RequireBwrap(t)
	srt, _ := installReal(t)
	how := [][]string{{"chrt", "--batch", "0"}, {"chrt", "--idle", "0"}, {"nice", "-n", "7"}}
	if os.Geteuid() == 0 {
		how = append(how, []string{"chrt", "--rr", "1"}, []string{"chrt", "--fifo", "2"})
	}
	show := []string{"awk", `{print "priority", $18, "nice", $19, "policy", $41}`, "/proc/self/stat"}
	for _, h := range how {
		want, err := exec.Command(h[0], append(h[1:], show...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", h, err, want)
		}
		got, err := exec.Command(h[0], append(append(h[1:], srt), show...)...).CombinedOutput()
		if err != nil || string(got) != string(want) {
			t.Errorf("%q: %q (%v) in the sandbox, %q outside", h, got, err, want)
		}
	}
}

// Command lines are for every user of the machine to read, environments for its own: only srt, whose caller gave it both, and the command
// itself may show what is the command's.
func TestNoProcessShowsWhatIsTheCommands(t *testing.T) {
	srttest.RequireBwrap(t)
	srt, dir := installReal(t)
	const secret, text = "the-secret-of-the-caller", "the-text-of-the-command"
	mark := "7" + strconv.Itoa(os.Getpid())
	cmd := exec.Command(srt, "-c", "sleep "+mark+"; : "+text)
	cmd.Env = append(os.Environ(), "TOKEN="+secret)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Signal(syscall.SIGTERM)
	running := func(line string) bool { return strings.Contains(line, "sleep "+mark) && !strings.Contains(line, text) }
	for deadline := time.Now().Add(time.Minute); !slices.ContainsFunc(slices.Collect(maps.Values(processes(t, dir, mark))), running); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command did not start")
		}
	}
	seen := 0
	for pid, line := range processes(t, "", "") {
		environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if !strings.Contains(line, text) && !bytes.Contains(environ, []byte(secret)) {
			continue
		}
		seen++
		if _, words, _ := strings.Cut(line, " "); pid != cmd.Process.Pid && !strings.Contains(words, "-c sleep "+mark) && !strings.HasPrefix(words, "sleep ") {
			t.Errorf("process %d shows it: %s", pid, line)
		}
	}
	if seen < 3 { // srt, the shell, sleep
		t.Errorf("only %d processes were looked at", seen)
	}
}
