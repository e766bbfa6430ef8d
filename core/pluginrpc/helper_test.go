package pluginrpc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

// leftovers are directories of sockets.
func leftovers(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("/tmp/srt-" + strings.Repeat("[0-9a-f]", 24))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func startHelper(t *testing.T, name string, byPort bool) *Helper {
	t.Helper()
	h, err := StartHelper(t.Context(), Options{Path: fake(t, "helper-"+name), byPort: byPort})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func TestMisbehavingHelper(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) {
		peertest.RunHelpers(t, func(t *testing.T, name string) (wire.Helper, string) {
			h := startHelper(t, name, byPort)
			if short := peertest.Short(name); short != 0 {
				h.limit = short
			}
			return h, h.name
		})
	})
}

// What a peer may do wrong at its start, on every way.
var badStarts = map[string]wire.Fault{
	"ends at once":           {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
	"says nothing":           {Code: wire.CodePeerGone, Detail: "the peer did not answer in time"},
	"says rubbish":           {Code: wire.CodeMalformed, Detail: "the peer does not speak the protocol of a session"},
	"says too much":          {Code: wire.CodeMalformed, Detail: "the peer does not speak the protocol of a session"},
	"speaks another version": {Code: wire.CodeVersion, Detail: "the peer does not speak version 1", Hint: "install srt and its helpers from one build"},
	"listens elsewhere":      {Code: wire.CodeMalformed, Detail: "the peer listens where it was not told to"},
	"listens on a port":      {Code: wire.CodeMalformed, Detail: "the peer listens where it was not told to"},
	"never speaks":           {Code: wire.CodePeerGone, Detail: "the peer did not answer in time"},
	"speaks plain HTTP":      {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
}

// runStarts starts every peer and judges the faults.
func runStarts(t *testing.T, byPort bool, starts map[string]wire.Fault) {
	for name, want := range starts {
		t.Run(name, func(t *testing.T) {
			path := fake(t, "helper-"+name)
			limit := 20 * time.Second
			if want.Detail == "the peer did not answer in time" {
				limit = time.Second
			}
			h, err := StartHelper(t.Context(), Options{Path: path, Limit: limit, byPort: byPort})
			if err == nil {
				h.Close()
				t.Fatal("it started")
			}
			want.Op, want.Path = "start", path
			if f, ok := errors.AsType[*wire.Fault](err); !ok || *f != want {
				t.Errorf("got %+v, want %+v", err, want)
			}
		})
	}
}

func TestPeerThatDoesNotStart(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) { runStarts(t, byPort, badStarts) })
}

func TestHelperBeyondTheContract(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) {
		for name, want := range map[string]wire.Fault{
			"sends 64 MiB":          {Code: wire.CodeTooLarge, Detail: "grpc: received message larger than max (67108869 vs. 16843776)"},
			"serves something else": {Code: wire.CodeMalformed, Detail: "unknown service srt.Helper"},
		} {
			t.Run(name, func(t *testing.T) {
				h := startHelper(t, name, byPort)
				_, err := h.Describe(t.Context())
				want.Op, want.Path = "ask", h.name
				if f, ok := errors.AsType[*wire.Fault](err); !ok || *f != want {
					t.Errorf("got %+v, want %+v", err, want)
				}
			})
		}
	})
}

func TestAllVerbs(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) { askAll(t, startHelper(t, "good", byPort)) })
}

func askAll(t *testing.T, h *Helper) {
	big := strings.Repeat("x", 4<<20)
	if p, err := h.Prepare(t.Context(), request(big)); err != nil || p.Argv[0] != big {
		t.Errorf("plan of a large request: %v", err)
	}
	_, err := h.Prepare(t.Context(), request("bad"))
	if f, ok := errors.AsType[*wire.Fault](err); !ok || *f != (wire.Fault{Code: wire.CodePolicy, Op: "plan", Path: "bad", Detail: "no"}) {
		t.Errorf("a refusal arrives as %+v", err)
	}
	if _, err := h.Prepare(t.Context(), request(strings.Repeat("x", wire.MaxMessage))); err == nil || !strings.Contains(err.Error(), "at most 16777216 are accepted") {
		t.Errorf("plan of a request over the bound: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := h.Check(ctx, wire.CheckRequest{Version: wire.Version}); err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("a check that hangs gives %v after %v", err, time.Since(start))
	}
	h.Close()
	<-h.Done()
	if _, err := h.Describe(t.Context()); err == nil {
		t.Error("a helper that was closed answers")
	}
}

func request(argv ...string) wire.LaunchRequest {
	return wire.LaunchRequest{Version: wire.Version, CommandID: "1", Command: wire.Command{Argv: argv}}
}

func TestStderrGoesToTheLog(t *testing.T) {
	var text bytes.Buffer
	_, err := StartHelper(t.Context(), Options{Path: fake(t, "helper-ends badly"), Log: slog.New(slog.NewTextHandler(&text, nil))})
	if err == nil {
		t.Fatal("it started")
	}
	l := newLines(slog.New(slog.NewTextHandler(&text, nil)), "peer")
	l.Write([]byte("one\ntw"))
	l.Write([]byte("o\n\n" + strings.Repeat("y", 3*maxLogLine) + "\nrest"))
	for _, want := range []string{`msg="panic: no behaviour \"ends badly\"" from="fake-helper-ends badly` + exe + `"`, `msg=one from=peer`, `msg=two from=peer`, "msg=" + strings.Repeat("y", maxLogLine) + " "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %.20q in the log", want)
		}
	}
	if strings.Contains(text.String(), "rest") {
		t.Error("half a line is in the log")
	}
}
