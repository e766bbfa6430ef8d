package entry

import (
	"strings"
	"testing"
)

// The whole command line is what a reviewer reads; a change of it must be seen here.
func TestCommandLine(t *testing.T) {
	got := strings.Join(Argv("/usr/bin/bwrap", "/opt/srt/libexec/srt/srt-linux", "init", "5", "4"), " ")
	want := "/usr/bin/bwrap --unshare-user --uid 0 --gid 0 --unshare-pid --unshare-net --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent" +
		" --cap-drop ALL --cap-add CAP_SYS_ADMIN --cap-add CAP_SETFCAP --cap-add CAP_NET_BIND_SERVICE --cap-add CAP_SYS_PTRACE" +
		" --dev-bind / / --proc /proc -- /opt/srt/libexec/srt/srt-linux init 5 4"
	if got != want {
		t.Errorf("command line\n%s\nwant\n%s", got, want)
	}
}

func TestOnlyTheFreshProcIsLeftOut(t *testing.T) {
	whole := Argv("b", "h", "init")
	got := strings.Join(KeepProc(whole), " ")
	if want := strings.Replace(strings.Join(whole, " "), " --proc /proc", "", 1); got != want || len(whole) != len(KeepProc(whole))+2 {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestCallsDoNotShareTheirArguments(t *testing.T) {
	a, b := Argv("a", "a", "1"), Argv("b", "b", "2")
	if a[0] != "a" || b[0] != "b" || a[len(a)-1] != "1" {
		t.Errorf("%q and %q", a, b)
	}
}
