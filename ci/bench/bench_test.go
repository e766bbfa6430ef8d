package main

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		v    []float64
		want float64
	}{
		"nothing": {nil, 0}, "one": {[]float64{3}, 3}, "odd, unsorted": {[]float64{9, 1, 5}, 5}, "even": {[]float64{4, 1, 2, 100}, 3},
	} {
		if got := median(c.v); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestReportShowsTheMedianOfTheRatios(t *testing.T) {
	s := newSeries("a start", "ms", "raw bwrap")
	s.add(20, 10)
	s.add(300, 100) // a slow round hits both
	s.add(50, 20)
	var r report
	r.add(s)
	if got := r.markdown("here"); !strings.Contains(got, "| a start | 50.0 ms | 20.0 ms (raw bwrap) | 2.50 |  | 3 |\n") || !strings.Contains(got, " here.\n") {
		t.Errorf("report:\n%s", got)
	}
}

func TestMissedBudgetsAreSaid(t *testing.T) {
	for want, c := range map[string]struct {
		name, unit, floor string
		ours, base        float64
	}{
		"≤ 4 ×":                 {"`srt true` with 1,000 denied paths", "ms", "raw bwrap", 40, 10},
		"≤ 4 × **missed**":      {"`srt true` with 1,000 denied paths", "ms", "raw bwrap", 41, 10},
		"≥ 0.4 ×":               {"new CONNECT tunnels, 1 at once", "/s", "direct", 40, 100},
		"≥ 0.4 × **missed**":    {"new CONNECT tunnels, 1 at once", "/s", "direct", 39, 100},
		"≤ 60.0 ms":             {"`srt true`, default settings, processor", "ms", "raw bwrap", 60, 1},
		"≤ 60.0 ms **missed**":  {"`srt true`, default settings, processor", "ms", "raw bwrap", 61, 1},
		"≤ +50.0 µs":            {"HTTP keep-alive request, 10,000 domains allowed", "µs", "three domains", 150, 100},
		"≤ +50.0 µs **missed**": {"HTTP keep-alive request, 10,000 domains allowed", "µs", "three domains", 151, 100},
		"":                      {"untar of 20,000 tiny files", "ms", "raw bwrap", 99, 1},
	} {
		s := newSeries(c.name, c.unit, c.floor)
		s.add(c.ours, c.base)
		if got := verdict(s); got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

// A budget whose line is called otherwise would never be looked at.
func TestEveryBudgetHasALine(t *testing.T) {
	var text strings.Builder
	for _, file := range []string{"startup.go", "trees.go", "load.go", "idle.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	for _, b := range budgets {
		name := strings.TrimSuffix(b.name, ", processor")
		name, _, _ = strings.Cut(name, ", 1 at once")
		name, _, _ = strings.Cut(name, ", 64 at once")
		if !strings.Contains(text.String(), `"`+name) || !strings.Contains(text.String(), `"`+b.floor+`"`) {
			t.Errorf("no line %q against %q", name, b.floor)
		}
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for want, got := range map[string]string{
		"0.42 GB/s": number(0.419, "GB/s"), "12.3 ms": number(12.345, "ms"), "1235 /s": number(1234.6, "/s"), "6": number(6, ""),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRepeatCountsSuccessesAndErrors(t *testing.T) {
	var n atomic.Int64
	r := repeat(2, 20*time.Millisecond, func() func() error {
		return func() error {
			time.Sleep(time.Millisecond)
			if n.Add(1)%2 == 0 {
				return errors.New("every second one")
			}
			return nil
		}
	})
	if r.PerSecond <= 0 || r.Errors == 0 || r.Errors > n.Load() {
		t.Errorf("%+v after %d jobs", r, n.Load())
	}
}

// The load generator against the servers, without a sandbox.
func TestEveryKindOfLoadWorks(t *testing.T) {
	t.Setenv("HTTP_PROXY", "")
	o, err := serve()
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if err := oneTunnel(o.echo.Addr().String()); err != nil {
		t.Error(err)
	}
	if err := keptRequests(o.http.Addr().String())(); err != nil {
		t.Error(err)
	}
	if !testing.Short() {
		if r, err := transfer(o.relay.Addr().String()); err != nil || r.PerSecond <= 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if err := client([]string{"fly", "127.0.0.1:1", "1", "1s"}); err == nil || err.Error() != `client: no kind "fly"` {
		t.Errorf("an unknown kind: %v", err)
	}
	if !strings.Contains(o.settings(), o.bulk.Addr().String()) || strings.Contains(o.settings(), o.relay.Addr().String()) {
		t.Errorf("settings %s", o.settings())
	}
}

func TestProxiesOfTheCallerAreLeftOut(t *testing.T) {
	got := strings.Join(withoutProxies([]string{"A=1", "http_proxy=x", "HTTPS_PROXY=y", "NO_PROXY=z", "PROXY_X=2"}), " ")
	if got != "A=1 PROXY_X=2" {
		t.Errorf("environment %q", got)
	}
}
