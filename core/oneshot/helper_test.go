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

	"github.com/srt-dev/srt/core/wire"
)

func TestMisbehavingHelper(t *testing.T) {
	for name, want := range map[string]wire.Fault{
		"crashes at once":         {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"crashes":                 {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"is killed":               {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"hangs":                   {Code: wire.CodePeerGone, Detail: "the peer did not answer in time"},
		"hangs in the middle":     {Code: wire.CodePeerGone, Detail: "the peer did not answer in time"},
		"ends in the middle":      {Code: wire.CodePeerGone, Detail: "the peer ended in the middle of a message"},
		"answers rubbish":         {Code: wire.CodeMalformed, Detail: "the peer does not speak in frames"},
		"answers no JSON":         {Code: wire.CodeMalformed, Detail: "'p' where '{' belongs, at byte 0"},
		"answers another version": {Code: wire.CodeVersion, Detail: "the peer does not speak version 1", Hint: "install srt and its helpers from one build"},
		"answers another message": {Code: wire.CodeMalformed, Detail: `Description: unknown key "items"`},
		"asks back":               {Code: wire.CodeMalformed, Detail: "a request where an answer belongs"},
		"announces 1 GiB":         {Code: wire.CodeTooLarge, Detail: "1073741824 bytes, at most 16777216 are accepted"},
		"sends without end":       {Code: wire.CodeMalformed, Detail: `'\x00' where '{' belongs, at byte 0`},
		"refuses badly":           {Code: wire.CodeMalformed, Detail: `Fault: key "op" is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Helper{Path: fake(t, name)}
			if strings.HasPrefix(name, "hangs") {
				h.Limit = 300 * time.Millisecond
			}
			start := time.Now()
			_, err := h.Describe(t.Context())
			var got *wire.Fault
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want a fault", err)
			}
			if got.Code != want.Code || got.Detail != want.Detail || got.Hint != want.Hint {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got.Op != "ask" || got.Path != h.Path {
				t.Errorf("the fault %q does not name the helper", got)
			}
			if time.Since(start) > 20*time.Second {
				t.Errorf("took %v", time.Since(start))
			}
		})
	}
}

func TestHelperFaultIsPassedOn(t *testing.T) {
	_, err := (&Helper{Path: fake(t, "refuses")}).Prepare(t.Context(), emptyRequest("true"))
	want := wire.Fault{Code: wire.CodeUnsupported, Op: "mount", Path: "/x", Detail: "no user namespaces", Hint: "enable them"}
	var got *wire.Fault
	if !errors.As(err, &got) || *got != want {
		t.Fatalf("got %v, want %v", err, &want)
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
