package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestManyAtOnce(t *testing.T) {
	count := *atOnce
	m := manager(t, Config{})
	events := m.Events(10 * count)
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			line := fmt.Sprintf("echo out %d; echo err %d >&2; /dev/srt/connect h%d.example 80 2>/dev/null; exit %d", i, i, i, i%7)
			cmd := m.Shell(t.Context(), line).With(WithCommandID(fmt.Sprint("run ", i)))
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			status := 0
			if e, ok := errors.AsType[*ExitError](err); ok {
				status = e.ExitCode()
			} else if err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if string(out) != fmt.Sprintf("out %d\n", i) || stderr.String() != fmt.Sprintf("err %d\n", i) || status != i%7 {
				t.Errorf("%d: stdout %q, stderr %q, status %d", i, out, stderr.String(), status)
			}
		})
	}
	wg.Wait()
	m.Close()
	seen := map[string]int{}
	for e := range events.C() {
		seen[e.Key]++
		if n := strings.TrimPrefix(e.Key, "run "); e.Target != "h"+n+".example:80" || e.Allowed {
			t.Errorf("event %+v", e)
		}
	}
	if len(seen) != count || m.Violations().Total() != count {
		t.Errorf("violations of %d commands, %d in all, want %d", len(seen), m.Violations().Total(), count)
	}
}

func TestTwoManagersDoNotMeet(t *testing.T) {
	a, b := manager(t, Config{}), manager(t, Config{})
	for range 3 {
		for _, m := range []*Manager{a, b} {
			if out, err := m.Command(t.Context(), "pwd").Output(); err != nil || string(out) != m.o.dir+"\n" {
				t.Errorf("%q, %v", out, err)
			}
		}
	}
	a.Close()
	if err := b.Command(t.Context(), "true").Run(); err != nil {
		t.Error(err)
	}
	err := a.Command(t.Context(), "true").Run()
	if want := "use the session: it is closed"; err == nil || err.Error() != want {
		t.Errorf("a Manager that is closed gives %v, want %s", err, want)
	}
}

// use is what must not grow: of this program, and of the helper and proxyd beside it.
type use struct {
	goroutines, heap int // of this program
	descriptors      [3]int
	resident         [3]int // bytes
}

// census waits until the counts stand still.
func census(t *testing.T, m *Manager) (u use) {
	t.Helper()
	for range 200 {
		last := u
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		u = use{goroutines: runtime.NumGoroutine(), heap: int(mem.HeapAlloc)}
		for i, pid := range []int{os.Getpid(), m.session.HelperPid(), m.session.ProxyPid()} {
			entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
			if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 { // ours let nobody but root look inside
				err = nil
			}
			if err != nil {
				t.Fatal(err)
			}
			statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
			if err != nil {
				t.Fatal(err)
			}
			var size, resident int
			fmt.Sscan(string(statm), &size, &resident)
			u.descriptors[i], u.resident[i] = len(entries), resident*os.Getpagesize()
		}
		if u.goroutines == last.goroutines && u.descriptors == last.descriptors {
			break
		}
	}
	return u
}

// counts are goroutines and descriptors of this program, when they stand still.
func counts(t *testing.T) (c [2]int) {
	t.Helper()
	for range 200 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		last := c
		if c = [2]int{runtime.NumGoroutine(), len(entries)}; c == last {
			break
		}
	}
	return c
}

// The bounds do not depend on the count: at 10,000 commands they leave room for a hundred bytes each on the heap. The store may keep the
// last hundred refusals and a thousand commands, and a Go program takes some MiB more or less as the collector likes.
const (
	heapRoom     = 1 << 20
	residentRoom = 16 << 20
)

func TestOneAfterTheOtherLeavesNothing(t *testing.T) {
	m := manager(t, Config{})
	run := func(i int) {
		cmd := m.Shell(t.Context(), "cat; /dev/srt/connect h.example 80 2>/dev/null; exit 3").With(WithCommandID(fmt.Sprint(i)))
		cmd.Stdin = strings.NewReader("x")
		out, err := cmd.Output()
		if e, ok := errors.AsType[*ExitError](err); !ok || e.ExitCode() != 3 || string(out) != "x" {
			t.Fatalf("%d: %q, %v", i, out, err)
		}
	}
	const before = 30
	for i := range before {
		run(i)
	}
	u := census(t, m)
	for i := range *many {
		run(before + i)
		if i%1000 == 999 {
			t.Logf("after %d: %+v", i+1, census(t, m))
		}
	}
	now := census(t, m)
	t.Logf("after %d commands: %+v\nthen %d more: %+v", before, u, *many, now)
	if now.goroutines > u.goroutines {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines became %d\n%s", u.goroutines, now.goroutines, buf[:runtime.Stack(buf, true)])
	}
	if now.heap > u.heap+heapRoom {
		t.Errorf("the heap grew from %d to %d bytes", u.heap, now.heap)
	}
	for i, who := range []string{"this program", "the helper", "proxyd"} {
		if now.descriptors[i] > u.descriptors[i] {
			t.Errorf("%s: %d descriptors became %d", who, u.descriptors[i], now.descriptors[i])
		}
		if now.resident[i] > u.resident[i]+residentRoom {
			t.Errorf("%s: %d resident bytes became %d", who, u.resident[i], now.resident[i])
		}
	}
}
