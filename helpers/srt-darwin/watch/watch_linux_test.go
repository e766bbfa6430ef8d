package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/denylog"
)

// TestMain: the test binary is the helper under verb watch; log(1) is the script beside it.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == wire.VerbWatch {
		unix.CloseOnExec(oneshot.RequestFD)
		unix.CloseOnExec(oneshot.ControlFD)
		err := Serve(os.NewFile(oneshot.RequestFD, "request"), oneshot.NewChannel(oneshot.ControlFD, wire.MaxControlMessage),
			wire.Description{Version: wire.Version, Features: []string{}}, filepath.Join(filepath.Dir(os.Args[0]), "log"))
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const session = "0123456789abcdef"

// helperWith gives a helper whose log(1) is this script; it knows the directory of its files as $D.
func helperWith(t *testing.T, script string) (h *oneshot.Helper, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Symlink(self, dir+"/srt-darwin"); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nD=" + dir + "\necho $$ >>$D/started\necho \"$*\" >$D/arguments\n" + script
	if err := os.WriteFile(dir+"/log", []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return &oneshot.Helper{Path: dir + "/srt-darwin"}, dir
}

// line is an event of the log as the kernel writes it, for a denial of reading path.
func line(t *testing.T, sessionID, path string) string {
	t.Helper()
	tag, err := denylog.Tag(sessionID, "cmd")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"processID":0,"processImagePath":"/kernel","senderImagePath":"/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox",`+
		`"timestamp":"2026-01-01 00:00:00.000000+0000","eventMessage":"Sandbox: cat(7) deny(1) file-read-data %s\n%s"}`, path, tag)
}

// denials takes n of them.
func denials(t *testing.T, l *oneshot.Launch, n int) []string {
	t.Helper()
	var out []string
	for range n {
		var m wire.ControlMessage
		if _, err := l.Control.Recv(&m); err != nil {
			t.Fatalf("after %q: %v", out, err)
		}
		out = append(out, m.Violation.Target)
	}
	return out
}

// started gives the numbers of the log(1) that were started.
func started(t *testing.T, dir string) []int {
	t.Helper()
	text, err := os.ReadFile(dir + "/started")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pid)
	}
	return out
}

// The reader tells what its session was denied, and nothing that another session, a program or a file name has put into the log. It ends
// with the channel and takes log(1) along.
func TestWatch(t *testing.T) {
	mine := line(t, session, "/a")
	forged := line(t, "fedcba9876543210", "/b/srt."+session+".Y21k")
	program := strings.Replace(line(t, session, "/c"), `"/kernel"`, `"/usr/bin/logger"`, 1)
	long := strings.Replace(line(t, session, "/d"), "/d", "/"+strings.Repeat("d", denylog.MaxLine), 1)
	h, dir := helperWith(t, "echo Filtering the log data\ncat $D/lines\nexec sleep 3600\n")
	text := strings.Join([]string{mine, forged, program, "rubbish", long, line(t, session, "/last"), ""}, "\n")
	if err := os.WriteFile(dir+"/lines", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := h.StartWatch(wire.WatchRequest{Version: wire.Version, SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(); err != nil {
		t.Fatal(err)
	}
	if got := denials(t, l, 2); !slices.Equal(got, []string{"/a", "/last"}) {
		t.Errorf("denials of %q", got)
	}
	args, err := os.ReadFile(dir + "/arguments")
	if want := `stream --style ndjson --predicate sender == "Sandbox" AND eventMessage CONTAINS "srt.` + session + ".\"\n"; err != nil || string(args) != want {
		t.Errorf("log(1) was started with %q, want %q", args, want)
	}
	if status := l.Close(time.Minute); !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("the reader ended with %v", status)
	}
	for _, pid := range started(t, dir) {
		if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
			t.Errorf("log(1) is left: %d: %v", pid, err)
		}
	}
}

// A log(1) that ends is started again, a few times.
func TestLogThatEnds(t *testing.T) {
	h, dir := helperWith(t, "echo Filtering\ncat $D/lines\n")
	if err := os.WriteFile(dir+"/lines", []byte(line(t, session, "/a")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := h.StartWatch(wire.WatchRequest{Version: wire.Version, SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	if got := denials(t, l, restarts); len(got) != restarts {
		t.Errorf("denials of %q", got)
	}
	var m wire.ControlMessage
	if _, err := l.Control.Recv(&m); err == nil {
		t.Errorf("and %+v", m)
	}
	if status := l.Close(time.Minute); !status.Exited() || status.ExitStatus() != 1 {
		t.Errorf("the reader ended with %v", status)
	}
	if got := started(t, dir); len(got) != restarts+1 {
		t.Errorf("log(1) was started %d times", len(got))
	}
}

func TestNoLog(t *testing.T) {
	for name, c := range map[string]struct{ script, session, want string }{
		"log(1) cannot be read": {"exit 64\n", session, `/log": it ended at once: EOF`},
		"a strange session":     {"", "x", `watch: "x" is not a session id: 8 to 64 letters and digits (a bug, please report)`},
	} {
		h, _ := helperWith(t, c.script)
		l, err := h.StartWatch(wire.WatchRequest{Version: wire.Version, SessionID: c.session})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Ready(); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
		l.Close(time.Minute)
	}
}
