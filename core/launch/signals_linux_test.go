package launch

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
)

// startSrt starts a fake srt without a terminal and waits until the command has printed its first line, which it returns.
func startSrt(t *testing.T, helper string, argv ...string) (*exec.Cmd, *bufio.Reader, string) {
	t.Helper()
	return startUnder(t, nil, helper, argv...)
}

// startUnder is startSrt for an srt that the words of before execute.
func startUnder(t *testing.T, before []string, helper string, argv ...string) (*exec.Cmd, *bufio.Reader, string) {
	t.Helper()
	words := slices.Concat(before, []string{fake(t, "srt"), fake(t, "helper-"+helper), "/nonexistent"}, argv)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	t.Cleanup(func() { late.Stop(); cmd.Process.Kill(); cmd.Wait() })
	out := bufio.NewReader(pipe)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, out, strings.TrimSpace(line)
}

func TestSignalsReachTheCommandOnce(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	for name, sig := range map[string]syscall.Signal{
		"INT": unix.SIGINT, "TERM": unix.SIGTERM, "HUP": unix.SIGHUP, "QUIT": unix.SIGQUIT,
		"WINCH": unix.SIGWINCH, "USR1": unix.SIGUSR1, "USR2": unix.SIGUSR2, "CONT": unix.SIGCONT,
	} {
		t.Run(name, func(t *testing.T) {
			cmd, out, _ := startSrt(t, "good", bash, "-c", counting(name))
			cmd.Process.Signal(sig)
			if line, _ := out.ReadString('\n'); line != "n=1\n" {
				t.Errorf("got %q", line)
			}
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 40 {
				t.Errorf("status %d", got)
			}
		})
	}
}

func TestSignalThatEndsTheCommand(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"INT": unix.SIGINT, "TERM": unix.SIGTERM, "HUP": unix.SIGHUP, "QUIT": unix.SIGQUIT,
		"USR1": unix.SIGUSR1} {
		t.Run(name, func(t *testing.T) {
			cmd, _, _ := startSrt(t, "good", "/bin/sh", "-c", "echo READY; exec sleep 3600")
			cmd.Process.Signal(sig)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 128+int(sig) {
				t.Errorf("status %d (%v), want %d", got, cmd.ProcessState, 128+int(sig))
			}
		})
	}
}

func TestSignalBeforeTheStart(t *testing.T) {
	cmd := exec.Command(srttest.RequireTool(t, "bash"), "-c", `trap '' INT; exec "$0" "$@"`, fake(t, "srt"), fake(t, "helper-never starts"), "/nonexistent", "/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	cmd.Process.Signal(unix.SIGINT) // ignored, as its caller wants
	cmd.Process.Signal(unix.SIGTERM)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 128+int(unix.SIGTERM) {
		t.Errorf("status %d", got)
	}
}

func TestStopAndContinueWithoutTerminal(t *testing.T) {
	cmd, out, _ := startSrt(t, "good", srttest.RequireTool(t, "bash"), "-c", "echo $$; sleep 1; echo done")
	cmd.Process.Signal(unix.SIGTSTP)
	waitState(t, cmd.Process.Pid, "T")
	cmd.Process.Signal(unix.SIGCONT)
	if line, _ := out.ReadString('\n'); line != "done\n" {
		t.Errorf("got %q", line)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestIgnoredSignalsAreReported(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	out, err := exec.Command(bash, "-c", `trap '' HUP INT; exec "$0" "$1" /nonexistent /bin/true ignored`, fake(t, "srt"), fake(t, "helper-good")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != "[1 2 3]" {
		t.Errorf("got %s", got)
	}
}

// A background job of a script starts with SIGINT ignored, and some programs handle it all the same.
func TestIgnoredSignalReachesACommandThatWantsIt(t *testing.T) {
	ignoring := []string{srttest.RequireTool(t, "bash"), "-c", `trap '' INT; exec "$0" "$@"`}
	// The signal may come before a print has returned, which does not let itself be called again, or just before a sleep, which does not notice.
	program := "import os, signal, time\nsignal.signal(signal.SIGINT, lambda *_: (os.write(1, b'handled\\n'), os._exit(5)))\nos.write(1, b'READY\\n')\nwhile True: time.sleep(0.05)"
	cmd, out, _ := startUnder(t, ignoring, "good", srttest.RequireTool(t, "python3"), "-c", program)
	cmd.Process.Signal(unix.SIGINT)
	if line, _ := out.ReadString('\n'); line != "handled\n" {
		t.Errorf("got %q", line)
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 5 {
		t.Errorf("status %d", got)
	}
}

func TestKillOfSrtEndsTheCommand(t *testing.T) {
	for _, helper := range []string{"good", "lives without srt"} {
		t.Run(helper, func(t *testing.T) {
			cmd, _, line := startSrt(t, helper, "/bin/sh", "-c", "echo $$; exec sleep 3600")
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Process.Kill()
			cmd.Wait()
			waitState(t, pid, "")
		})
	}
}

// waitState waits until process pid is in the state of ps(1); "" is gone, or a zombie that nobody here can reap.
func waitState(t *testing.T, pid int, want string) {
	t.Helper()
	state := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		state = ""
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
			state = strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0]
		}
		if state == want || want == "" && state == "Z" {
			return
		}
	}
	t.Fatalf("process %d is in state %q, want %q", pid, state, want)
}
