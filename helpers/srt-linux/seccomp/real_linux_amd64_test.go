package seccomp

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// callX32 makes a call of the x32 table.
func callX32() { _ = raw(0x40000000 | unix.SYS_GETPID)() }

func TestForeignTableKills(t *testing.T) {
	for _, spec := range []string{"unsupervised", "supervised", "unsupervised-ns"} {
		_, err := runChild(t, spec, "SECCOMP_TEST_X32=1")
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || !strings.HasPrefix(exit.String(), "signal: bad system call") {
			t.Errorf("%s: an x32 call gave %v, want death by SIGSYS", spec, err)
		}
	}
	if _, err := runChild(t, "nothing", "SECCOMP_TEST_X32=1"); err != nil {
		t.Errorf("without a filter an x32 call gave %v", err)
	}
}
