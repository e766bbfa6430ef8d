package main

import (
	"errors"
	"runtime"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

func TestDescribe(t *testing.T) {
	d, err := helper{}.Describe(t.Context())
	if err != nil || d.Name != "srt-darwin" || d.Version != wire.Version || d.OS != runtime.GOOS || d.Build != commit {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestElsewhere(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("here it is supported")
	}
	_, err := helper{}.Prepare(t.Context(), wire.LaunchRequest{})
	_, err2 := helper{}.Check(t.Context(), wire.CheckRequest{})
	for _, err := range []error{err, err2} {
		var f *wire.Fault
		if !errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &f) || f.Code != wire.CodeUnsupported {
			t.Errorf("%v", err)
		}
	}
	if want := "use Seatbelt: srt-darwin runs on macOS only, this is " + runtime.GOOS + " (unsupported operation)"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"srt-darwin"}, {"srt-darwin", "launch"}, {"srt-darwin", "plan", "x"}, {"srt-darwin", "connect", "host"}, {"srt-darwin", "watch", "x"}, {"srt-darwin", "attempt"}} {
		if got := run(args); got != statusFailed {
			t.Errorf("%v: status %d", args, got)
		}
	}
}
