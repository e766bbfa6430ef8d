package main

import (
	"errors"
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
	if got := r.markdown("here"); !strings.Contains(got, "| a start | 50.0 ms | 20.0 ms (raw bwrap) | 2.50 | 3 |\n") || !strings.Contains(got, " here.\n") {
		t.Errorf("report:\n%s", got)
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
