package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
)

// The test binary is the helper (verb guard) and srt (fake-srt DIRECTORY).
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == wire.VerbGuard:
		unix.CloseOnExec(oneshot.RequestFD)
		unix.CloseOnExec(oneshot.ControlFD)
		err := Serve(os.NewFile(oneshot.RequestFD, "request"), oneshot.NewChannel(oneshot.ControlFD, wire.MaxControlMessage), wire.Description{Version: wire.Version, Features: []string{}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) == 3 && os.Args[1] == "fake-srt":
		fakeSrt(os.Args[2])
	case len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test."):
		os.Exit(3) // never the tests once more
	}
	os.Exit(m.Run())
}

// fakeSrt starts a guard and a command that leaves its process group and session in several ways, and waits to be killed.
func fakeSrt(dir string) {
	g, err := (&oneshot.Helper{Path: self()}).StartGuard(wire.GuardRequest{Version: wire.Version, TmpDir: dir + "/tmp"})
	if err == nil {
		err = g.Ready()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pid, err := start(dir)
	if err == nil {
		err = g.Control.Send(wire.GuardMessage{Version: wire.Version, Pid: pid})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// tree writes the number of every process that it starts into a file of the directory.
const tree = `
own() { echo $BASHPID > "$DIR/$1.tmp"; mv "$DIR/$1.tmp" "$DIR/$1"; exec sleep 3600; }
export -f own
mkdir -p "$TMPDIR/closed/in"; chmod 000 "$TMPDIR/closed"
(own group) &
setsid bash -c "own session" &
(setsid bash -c "own daemon" &)
env -u TMPDIR setsid bash -c "own bare" &
trap "" TERM HUP INT
own main`

var names = []string{"group", "session", "daemon", "bare", "main"}

func start(dir string) (int, error) {
	if err := os.Mkdir(dir+"/tmp", 0o700); err != nil {
		return 0, err
	}
	cmd := exec.Command("bash", "-c", tree)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir+"/tmp", "DIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err := cmd.Start()
	if err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // killed in the end
	return cmd.Process.Pid, nil
}

// pids waits until the whole tree runs.
func pids(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for until := time.Now().Add(time.Minute); len(out) < len(names); time.Sleep(10 * time.Millisecond) {
		for _, name := range names {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				out[name] = pid
			}
		}
		if time.Now().After(until) {
			t.Fatalf("only %v have started", out)
		}
	}
	t.Cleanup(func() {
		for _, pid := range out {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	return out
}

// gone waits until a process has ended, or is a zombie that nobody has reaped.
func gone(t *testing.T, name string, pid int) {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("%s (%d) lives on", name, pid)
}

// SIGKILL of srt ends everything that the command has started, wherever it went, and leaves nothing on the disk.
func TestKilledSrt(t *testing.T) {
	srttest.RequireTool(t, "bash", "setsid", "env", "sleep")
	dir := t.TempDir()
	cmd := exec.Command(self(), "fake-srt", dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tree := pids(t, dir)
	bystander := exec.Command("sleep", "3600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for name, pid := range tree {
		gone(t, name, pid)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(dir + "/tmp"); os.IsNotExist(err) {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the temporary directory is still there")
		}
	}
	if err := unix.Kill(bystander.Process.Pid, 0); err != nil {
		t.Errorf("a process of somebody else was killed: %v", err)
	}
	_ = bystander.Process.Kill()
	_ = bystander.Wait()
}

// The guard goes when srt closes the channel, and it goes on when a signal tells it to end.
func TestGuardEndsWithTheChannelAlone(t *testing.T) {
	srttest.RequireTool(t, "bash", "setsid", "env", "sleep")
	dir := t.TempDir()
	g, err := (&oneshot.Helper{Path: self()}).StartGuard(wire.GuardRequest{Version: wire.Version, TmpDir: dir + "/tmp"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(); err != nil {
		t.Fatal(err)
	}
	if _, err := start(dir); err != nil { // its number stays untold: the guard finds it by its directory
		t.Fatal(err)
	}
	tree := pids(t, dir)
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		if err := unix.Kill(g.Pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	if status := g.Close(time.Minute); !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("the guard ended with %v", status)
	}
	for name, pid := range tree {
		gone(t, name, pid)
	}
}

func TestGuardRefusesAStrangeDirectory(t *testing.T) {
	g, err := (&oneshot.Helper{Path: self()}).StartGuard(wire.GuardRequest{Version: wire.Version, TmpDir: "tmp"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(time.Minute)
	if err := g.Ready(); err == nil || err.Error() != `guard "tmp": is not an absolute path (a bug, please report)` {
		t.Errorf("got %v", err)
	}
}
