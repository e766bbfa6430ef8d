package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/srttest/ptytest"
)

// A shell at a terminal, in a real sandbox: it has job control of its own, and keys reach only what runs in its foreground.
func TestInteractiveShell(t *testing.T) {
	srttest.RequireBwrap(t)
	bash := srttest.RequireTool(t, "bash")
	cmd := exec.Command(srttest.Built(t, "bin/srt"), "--settings", settingsFile(t, `{}`), bash, "--norc", "--noprofile", "--noediting", "-i")
	cmd.Env = append(os.Environ(), "PS1=prompt> ", "HISTFILE=", "TERM=dumb")
	p := ptytest.Start(t, cmd, true)
	p.Expect("prompt> ")
	p.Type("tty; test -t 0 && echo UP$((1+1))\n")
	p.Expect("/dev/")
	p.Expect("UP2\r\n")

	p.Type("(echo READY$((1+1)); read x; echo got $x)\n")
	p.Expect("READY2\r\n")
	p.Type(ptytest.CtrlZ)
	p.Expect("Stopped")
	p.Expect("prompt> ")
	p.Type("jobs\n")
	p.Expect("[1]+  Stopped")
	p.Type("fg\n")
	p.Type("line\n")
	p.Expect("got line\r\n")

	p.Type("sh -c 'echo GO$((1+1)); exec sleep 3600'\n")
	p.Expect("GO2\r\n")
	p.Type(ptytest.CtrlC)
	p.Expect("prompt> ") // the key has thrown away what was typed and not read
	p.Type("echo status=$?\n")
	p.Expect("status=130\r\n")

	p.Type("trap 'echo trapped' INT; sh -c 'trap \"echo inner; exit 7\" INT; echo INSIDE$((1+1)); while :; do sleep 0.1; done'; echo status=$?\n")
	p.Expect("INSIDE2\r\n")
	p.Type(ptytest.CtrlC)
	p.Expect("inner")
	p.Expect("status=7\r\n")

	p.Type("sleep 3600 &\n")
	p.Expect("prompt> ")
	p.Type("kill %1; wait %1; echo status=$?\n")
	p.Expect("status=143\r\n")
	p.Type("exit 5\n")
	if got := p.Status(); got != 5 {
		t.Errorf("status %d; output:\n%s", got, p.Text())
	}
}
