package launch

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
)

// readNumber waits for a file with a number in it.
func readNumber(t *testing.T, path string) int {
	t.Helper()
	for range 500 {
		if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(b), "\n") {
			n, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("nothing in %s", path)
	return 0
}

// A wrapper that is killed while it starts can leave a child that waits for it for ever and holds every descriptor: the run must neither
// wait for that child nor leave it. The last argument of what is entered is the thread of srt's caller.
func TestWrapperThatLeavesAChildBehind(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := t.TempDir()
	enter := []string{"/bin/sh", "-c", `echo $0 >` + dir + `/thread; sleep 1000 & echo $! >` + dir + `/pid; exit 3`}
	r, err := Begin(Options{Helper: "/nonexistent/helper", Enter: enter, Proxy: "/nonexistent/proxyd"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out := r.Wait(request(false, false, "true"), wire.ProxyConfig{Version: wire.Version})
	if out.Started || out.Fault == nil || !strings.HasPrefix(out.Fault.Error(), "run the sandbox: it ended before the command had started") {
		t.Errorf("outcome %+v", out)
	}
	if waited := time.Since(start); waited > generous.answer/2 {
		t.Errorf("waited %v for an answer that could not come", waited)
	}
	if b, err := os.ReadFile(dir + "/thread"); err != nil {
		t.Error(err)
	} else if thread, err := entry.ParseThread(strings.TrimSpace(string(b))); err != nil || thread.Mask != 0 {
		t.Errorf("thread %q: %v", b, err)
	}
	for pid := readNumber(t, dir+"/pid"); unix.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) { // killed; init has to reap it
		if time.Since(start) > generous.answer {
			t.Fatal("the child is left")
		}
	}
}

// When bubblewrap gives up, srt says what the helper finds this machine to lack.
func TestWhyThereIsNoSandbox(t *testing.T) {
	for name, tc := range map[string]struct{ enter, helper, text, hint string }{
		"the helper knows why":     {"exit 1", "knows why", "start a sandbox: no namespaces here", "allow them"},
		"the helper finds nothing": {"exit 1", "good", "run the sandbox: it ended before the command had started (exit status 1)", "srt doctor says what this machine lacks"},
		"it was killed":            {"kill -KILL $$", "knows why", "run the sandbox: it ended before the command had started", "srt doctor says what this machine lacks"},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			r, err := Begin(Options{Helper: fake(t, "helper-"+tc.helper), Enter: []string{"/bin/sh", "-c", tc.enter}, Proxy: "/nonexistent/proxyd"})
			if err != nil {
				t.Fatal(err)
			}
			out := r.Wait(request(false, false, "true"), wire.ProxyConfig{Version: wire.Version})
			if out.Started || out.Fault == nil || out.Fault.Error() != tc.text || out.Fault.Hint != tc.hint {
				t.Errorf("outcome %+v (%+v)", out, out.Fault)
			}
		})
	}
}
