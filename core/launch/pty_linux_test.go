package launch

import (
	"os"
	"os/exec"
	"testing"

	"github.com/srt-dev/srt/core/srttest/ptytest"
)

// onTerminal runs path on a terminal, with a prompt that no echo of a command looks like.
func onTerminal(t *testing.T, stdin bool, path string, args ...string) *ptytest.Terminal {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "PS1=prompt> ", "HISTFILE=", "TERM=dumb")
	return ptytest.Start(t, cmd, stdin)
}
