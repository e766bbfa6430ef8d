//go:build linux || darwin

package oneshot

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func TestMisbehavingHelper(t *testing.T) {
	peertest.RunHelpers(t, func(t *testing.T, name string) (wire.Helper, string) {
		h := &Helper{Path: fake(t, name), Limit: peertest.Short(name)}
		return h, h.Path
	})
}

func TestHelperThatStopsHalfWay(t *testing.T) {
	for name, want := range map[string]string{
		"crashes at once":     "the peer ended without an answer",
		"hangs in the middle": "the peer did not answer in time",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Helper{Path: fake(t, name), Limit: peertest.Short(name)}).Describe(t.Context())
			if f, ok := errors.AsType[*wire.Fault](err); !ok || f.Code != wire.CodePeerGone || f.Detail != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestHelperHonoursTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := (&Helper{Path: fake(t, "hangs")}).Describe(ctx); err == nil || time.Since(start) > 10*time.Second {
		t.Fatalf("got %v after %v, want an early error", err, time.Since(start))
	}
}

func TestHelperThatIsNotThere(t *testing.T) {
	_, err := (&Helper{Path: "/nonexistent/srt-linux"}).Describe(t.Context())
	if got, want := err.Error(), `start "/nonexistent/srt-linux": no such file or directory`; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestHelperInheritsNothingElse(t *testing.T) {
	t.Setenv("LD_PRELOAD", "/tmp/evil.so")
	t.Setenv("PATH", "/tmp/evil")
	d, err := (&Helper{Path: fake(t, "good")}).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"env=PATH=/usr/sbin:/usr/bin:/sbin:/bin", "args=describe", "fds=0,1,2,3", `stdin="",<nil>`, "own session"}
	if !slices.Equal(d.Features, want) {
		t.Errorf("helper inherited %q, want %q", d.Features, want)
	}
}

func TestAllVerbs(t *testing.T) {
	h := &Helper{Path: fake(t, "good")}
	if r, err := h.Check(t.Context(), wire.CheckRequest{Version: wire.Version}); err != nil || len(r.Items) != 1 {
		t.Errorf("check: %v, %v", r, err)
	}
	big := strings.Repeat("x", 4<<20) // far more than a socket buffer holds
	if p, err := h.Prepare(t.Context(), emptyRequest(big)); err != nil || p.Argv[0] != big {
		t.Errorf("plan of a large request: %v", err)
	}
	if _, err := h.Prepare(t.Context(), emptyRequest(strings.Repeat("x", wire.MaxMessage))); err == nil ||
		!strings.Contains(err.Error(), "at most 16777216 are accepted") {
		t.Errorf("plan of a request over the bound: %v", err)
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	for _, name := range []string{"good", "hangs", "crashes"} {
		h := &Helper{Path: fake(t, name), Limit: 200 * time.Millisecond}
		_, _ = h.Describe(t.Context())
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: pid %d, %v", pid, err)
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil && len(entries) > 40 {
		t.Errorf("%d descriptors are open", len(entries))
	}
}
