package launch

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
)

const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

// counting is a command that counts a signal and tells how often it came.
func counting(signal string) string {
	return `n=0; trap 'n=$((n+1))' ` + signal + `; echo READY; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; sleep 0.3; echo "n=$n"; exit 40`
}

func TestKeysReachTheCommandOnce(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	srt, helper := fake(t, "srt"), fake(t, "helper-good")
	for name, tc := range map[string]struct {
		stdin  bool
		key    string
		script string
		expect string
		status int
	}{
		"Ctrl-C with a trap":                 {true, ctrlC, counting("INT"), "n=1", 40},
		"Ctrl-C with a trap, no stdin":       {false, ctrlC, counting("INT"), "n=1", 40},
		"Ctrl-C without a trap":              {true, ctrlC, "echo READY; sleep 3600; echo survived", "", 130},
		"Ctrl-C without a trap or stdin":     {false, ctrlC, "echo READY; sleep 3600; echo survived", "", 130},
		"Ctrl-\\ with a trap":                {true, ctrlBackslash, counting("QUIT"), "n=1", 40},
		"Ctrl-Z where nobody could continue": {true, ctrlZ, "echo READY; sleep 0.5; echo done; exit 41", "done", 41},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPty(t, tc.stdin, srt, helper, "/nonexistent", bash, "--norc", "-c", tc.script)
			p.expect("READY")
			p.write(tc.key)
			if tc.expect != "" {
				p.expect(tc.expect)
			}
			if got := p.status(); got != tc.status {
				t.Errorf("status %d, want %d; output:\n%s", got, tc.status, p.text())
			}
		})
	}
}

func TestResizeReachesTheCommandOnce(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	srt, helper := fake(t, "srt"), fake(t, "helper-good")
	for _, stdin := range []bool{true, false} {
		p := startPty(t, stdin, srt, helper, "/nonexistent", bash, "--norc", "-c", counting("WINCH"))
		p.expect("READY")
		if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 99}); err != nil {
			t.Fatal(err)
		}
		p.expect("n=1")
	}
}

func TestJobControl(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	srt := fake(t, "srt") + " " + fake(t, "helper-good") + " /nonexistent "
	shell := func(t *testing.T) *pty {
		t.Helper()
		p := startPty(t, true, bash, "--norc", "--noprofile", "--noediting", "-i")
		p.expect("prompt> ")
		return p
	}
	t.Run("Ctrl-Z stops the job and fg goes on", func(t *testing.T) {
		p := shell(t)
		p.write(srt + "/bin/sh -c 'echo READY; read x; echo got $x; exit 9'\n")
		p.expect("READY\r\n")
		p.write(ctrlZ)
		p.expect("Stopped")
		p.expect("prompt> ")
		p.write("echo still here\n")
		p.expect("still here\r\n")
		p.write("fg\n")
		p.write("line\n")
		p.expect("got line")
		p.write("echo status=$?\n")
		p.expect("status=9")
	})
	t.Run("a background job that reads stops, and fg lets it read", func(t *testing.T) {
		p := shell(t)
		p.write(srt + "/bin/sh -c 'read x; echo got $x' &\n")
		p.expect("prompt> ")
		for range 100 {
			p.write("jobs\n")
			p.expect("prompt> ")
		}
		p.write("wait -n; jobs\n")
		p.expect("Stopped")
		p.write("fg\n")
		p.expect("got $x")
		p.write("line\n")
		p.expect("got line")
	})
	t.Run("a pipeline whose command reads the terminal", func(t *testing.T) {
		p := shell(t)
		p.write(srt + "/bin/sh -c 'read x </dev/tty; echo got $x' | cat; echo after\n")
		p.expect("echo after\r\n")
		p.write("line\n")
		p.expect("got line")
		p.expect("after")
	})
	t.Run("Ctrl-Z on a pipeline", func(t *testing.T) {
		p := shell(t)
		p.write(srt + bash + " -c 'echo READY; sleep 1; echo done' | cat\n")
		p.expect("READY\r\n")
		p.write(ctrlZ)
		p.expect("Stopped")
		p.write("fg\n")
		p.expect("done\r\n")
		p.expect("prompt> ")
	})
	t.Run("a shell inside has job control of its own", func(t *testing.T) {
		p := shell(t)
		p.write(srt + bash + " --norc --noprofile --noediting -i\n")
		p.expect("prompt> ")
		p.write("(echo UP; sleep 3600)\n")
		p.expect("UP\r\n")
		p.write(ctrlZ)
		p.expect("Stopped")
		p.expect("prompt> ")
		p.write("kill -KILL %1; wait %1; echo DEAD\n")
		p.expect("DEAD\r\n")
		p.expect("prompt> ")
		p.write("exit 5\n")
		p.expect("\r\nexit\r\n")
		p.expect("prompt> ")
		p.write("echo status=$?\n")
		p.expect("status=5")
	})
	t.Run("the terminal comes back to a parent without job control", func(t *testing.T) {
		p := shell(t)
		p.write("sh -c '" + srt + "/bin/true; read x; echo got $x'\n")
		p.write("line\n")
		p.expect("got line")
	})
}
