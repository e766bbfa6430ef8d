package launch

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/srttest/ptytest"
)

// counting is a command that counts a signal and tells how often it came: it waits for the first as long as a busy machine may take, and then
// whether there is a second.
func counting(signal string) string {
	return `n=0; trap 'n=$((n+1))' ` + signal + `; echo READY; for i in {1..400}; do [ $n = 0 ] || break; sleep 0.05; done; for i in {1..10}; do sleep 0.05; done; sleep 0.3; echo "n=$n"; exit 40`
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
		"Ctrl-C with a trap":                 {true, ptytest.CtrlC, counting("INT"), "n=1", 40},
		"Ctrl-C with a trap, no stdin":       {false, ptytest.CtrlC, counting("INT"), "n=1", 40},
		"Ctrl-C without a trap":              {true, ptytest.CtrlC, "echo READY; sleep 3600; echo survived", "", 130},
		"Ctrl-C without a trap or stdin":     {false, ptytest.CtrlC, "echo READY; sleep 3600; echo survived", "", 130},
		"Ctrl-\\ with a trap":                {true, ptytest.CtrlBackslash, counting("QUIT"), "n=1", 40},
		"Ctrl-Z where nobody could continue": {true, ptytest.CtrlZ, "echo READY; sleep 0.5; echo done; exit 41", "done", 41},
	} {
		t.Run(name, func(t *testing.T) {
			p := onTerminal(t, tc.stdin, srt, helper, "/nonexistent", bash, "--norc", "-c", tc.script)
			p.Expect("READY")
			p.Type(tc.key)
			if tc.expect != "" {
				p.Expect(tc.expect)
			}
			if got := p.Status(); got != tc.status {
				t.Errorf("status %d, want %d; output:\n%s", got, tc.status, p.Text())
			}
		})
	}
}

func TestResizeReachesTheCommandOnce(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	srt, helper := fake(t, "srt"), fake(t, "helper-good")
	for _, stdin := range []bool{true, false} {
		p := onTerminal(t, stdin, srt, helper, "/nonexistent", bash, "--norc", "-c", counting("WINCH"))
		p.Expect("READY")
		if err := unix.IoctlSetWinsize(int(p.Master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 99}); err != nil {
			t.Fatal(err)
		}
		p.Expect("n=1")
	}
}

func TestJobControl(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	srt := fake(t, "srt") + " " + fake(t, "helper-good") + " /nonexistent "
	shell := func(t *testing.T) *ptytest.Terminal {
		t.Helper()
		p := onTerminal(t, true, bash, "--norc", "--noprofile", "--noediting", "-i")
		p.Expect("prompt> ")
		return p
	}
	t.Run("Ctrl-Z stops the job and fg goes on", func(t *testing.T) {
		p := shell(t)
		p.Type(srt + "/bin/sh -c 'echo READY; read x; echo got $x; exit 9'\n")
		p.Expect("READY\r\n")
		p.Type(ptytest.CtrlZ)
		p.Expect("Stopped")
		p.Expect("prompt> ")
		p.Type("echo still here\n")
		p.Expect("still here\r\n")
		p.Type("fg\n")
		p.Type("line\n")
		p.Expect("got line")
		p.Type("echo status=$?\n")
		p.Expect("status=9")
	})
	t.Run("a background job that reads stops, and fg lets it read", func(t *testing.T) {
		p := shell(t)
		p.Type(srt + "/bin/sh -c 'read x; echo got $x' &\n")
		p.Expect("prompt> ")
		for range 100 {
			p.Type("jobs\n")
			p.Expect("prompt> ")
		}
		p.Type("wait -n; jobs\n")
		p.Expect("Stopped")
		p.Type("fg\n")
		p.Expect("got $x")
		p.Type("line\n")
		p.Expect("got line")
	})
	t.Run("a pipeline whose command reads the terminal", func(t *testing.T) {
		p := shell(t)
		p.Type(srt + "/bin/sh -c 'read x </dev/tty; echo got $x' | cat; echo after\n")
		p.Expect("echo after\r\n")
		p.Type("line\n")
		p.Expect("got line")
		p.Expect("after")
	})
	t.Run("Ctrl-Z on a pipeline", func(t *testing.T) {
		p := shell(t)
		p.Type(srt + bash + " -c 'echo READY; sleep 1; echo done' | cat\n")
		p.Expect("READY\r\n")
		p.Type(ptytest.CtrlZ)
		p.Expect("Stopped")
		p.Type("fg\n")
		p.Expect("done\r\n")
		p.Expect("prompt> ")
	})
	t.Run("a shell inside has job control of its own", func(t *testing.T) {
		p := shell(t)
		p.Type(srt + bash + " --norc --noprofile --noediting -i\n")
		p.Expect("prompt> ")
		p.Type("(echo UP; sleep 3600)\n")
		p.Expect("UP\r\n")
		p.Type(ptytest.CtrlZ)
		p.Expect("Stopped")
		p.Expect("prompt> ")
		p.Type("kill -KILL %1; wait %1; echo DEAD\n")
		p.Expect("DEAD\r\n")
		p.Expect("prompt> ")
		p.Type("exit 5\n")
		p.Expect("\r\nexit\r\n")
		p.Expect("prompt> ")
		p.Type("echo status=$?\n")
		p.Expect("status=5")
	})
	t.Run("the terminal comes back to a parent without job control", func(t *testing.T) {
		p := shell(t)
		p.Type("sh -c '" + srt + "/bin/true; read x; echo got $x'\n")
		p.Type("line\n")
		p.Expect("got line")
	})
}
