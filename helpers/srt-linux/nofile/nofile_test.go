package nofile_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-linux/nofile"
)

func TestMain(m *testing.M) {
	if os.Getenv("NOFILE_CHILD") != "" {
		fmt.Print(nofile.Known, nofile.Soft, nofile.Hard)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The shell sets a soft limit below the hard one; Go raises it before main, and this package must still know it.
func TestLimitOfTheCallerIsRemembered(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -Sn 123; ulimit -Hn 900; exec "$0"`, self)
	cmd.Env = []string{"NOFILE_CHILD=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := string(out), "true 123 900"; got != want {
		t.Errorf("limits at start: %q, want %q", got, want)
	}
}
