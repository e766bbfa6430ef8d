package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestManyAtOnce(t *testing.T) {
	count := 200
	if testing.Short() {
		count = 50
	}
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

// census counts what must not grow.
func census(t *testing.T) (goroutines, descriptors int) {
	t.Helper()
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		if g := runtime.NumGoroutine(); g == goroutines && len(entries) == descriptors {
			break
		} else {
			goroutines, descriptors = g, len(entries)
		}
	}
	return goroutines, descriptors
}

func TestOneAfterTheOtherLeavesNothing(t *testing.T) {
	count := *many
	if testing.Short() {
		count = min(count, 30)
	}
	m := manager(t, Config{})
	run := func(i int) {
		cmd := m.Shell(t.Context(), "cat; /dev/srt/connect h.example 80 2>/dev/null; exit 3").With(WithCommandID(fmt.Sprint(i)))
		cmd.Stdin = strings.NewReader("x")
		out, err := cmd.Output()
		if e, ok := errors.AsType[*ExitError](err); !ok || e.ExitCode() != 3 || string(out) != "x" {
			t.Fatalf("%d: %q, %v", i, out, err)
		}
	}
	for i := range 10 {
		run(i)
	}
	g, d := census(t)
	for i := range count {
		run(10 + i)
	}
	if g2, d2 := census(t); g2 > g || d2 > d {
		buf := make([]byte, 1<<20)
		t.Errorf("after %d commands %d goroutines became %d, %d descriptors %d\n%s", count, g, g2, d, d2, buf[:runtime.Stack(buf, true)])
	}
}
