//go:build unix

package pluginrpc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

func startHelper(t *testing.T, name string) *Helper {
	t.Helper()
	h, err := StartHelper(t.Context(), Options{Path: fake(t, "helper-"+name)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func TestMisbehavingHelper(t *testing.T) {
	peertest.RunHelpers(t, func(t *testing.T, name string) (wire.Helper, string) {
		h := startHelper(t, name)
		if short := peertest.Short(name); short != 0 {
			h.limit = short
		}
		return h, h.name
	})
}

func TestPeerThatDoesNotStart(t *testing.T) {
	for name, want := range map[string]wire.Fault{
		"ends at once":           {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"says nothing":           {Code: wire.CodePeerGone, Detail: "the peer did not answer in time"},
		"says rubbish":           {Code: wire.CodeMalformed, Detail: "the peer does not speak the protocol of a session"},
		"says too much":          {Code: wire.CodeMalformed, Detail: "the peer does not speak the protocol of a session"},
		"speaks another version": {Code: wire.CodeVersion, Detail: "the peer does not speak version 1", Hint: "install srt and its helpers from one build"},
		"listens elsewhere":      {Code: wire.CodeMalformed, Detail: "the peer listens where it was not told to"},
		"listens on a port":      {Code: wire.CodeMalformed, Detail: "the peer listens where it was not told to"},
		"listens nowhere":        {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"never speaks":           {Code: wire.CodePeerGone, Detail: "the peer did not answer in time"},
		"speaks plain HTTP":      {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"is another process":     {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			path := fake(t, "helper-"+name)
			limit := 20 * time.Second
			if want.Detail == "the peer did not answer in time" {
				limit = time.Second
			}
			h, err := StartHelper(t.Context(), Options{Path: path, Limit: limit})
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

func TestHelperThatIsNotThere(t *testing.T) {
	_, err := StartHelper(t.Context(), Options{Path: "/nonexistent/srt-linux-rpc"})
	if want := `start "/nonexistent/srt-linux-rpc": no such file or directory`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHelperBeyondTheContract(t *testing.T) {
	for name, want := range map[string]wire.Fault{
		"sends 64 MiB":          {Code: wire.CodeTooLarge, Detail: "grpc: received message larger than max (67108869 vs. 16778240)"},
		"serves something else": {Code: wire.CodeMalformed, Detail: "unknown service srt.Helper"},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHelper(t, name)
			_, err := h.Describe(t.Context())
			want.Op, want.Path = "ask", h.name
			if f, ok := errors.AsType[*wire.Fault](err); !ok || *f != want {
				t.Errorf("got %+v, want %+v", err, want)
			}
		})
	}
}

func TestHelperInheritsNothing(t *testing.T) {
	t.Setenv("LD_PRELOAD", "/tmp/evil.so")
	t.Setenv("GODEBUG", "x=y")
	open, err := os.Create(filepath.Join(t.TempDir(), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := unix.FcntlInt(open.Fd(), unix.F_SETFD, 0); err != nil { // as a library in C might leave it
		t.Fatal(err)
	}
	d, err := startHelper(t, "good").Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"args=serve", "env PATH", "env SRT_SESSION", "env PLUGIN_PROTOCOL_VERSIONS", "env PLUGIN_UNIX_SOCKET_DIR", `stdin="",<nil>`, "own session"}
	got := slices.DeleteFunc(d.Features, func(f string) bool { return strings.HasPrefix(f, "fd ") }) // inherited, but see sealInherited
	if !slices.Equal(got, want) {
		t.Errorf("the helper inherited %q, want %q", got, want)
	}
}

func TestAllVerbs(t *testing.T) {
	h := startHelper(t, "good")
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
	for _, want := range []string{`msg="panic: no behaviour \"ends badly\"" from="fake-helper-ends badly"`, `msg=one from=peer`, `msg=two from=peer`, "msg=" + strings.Repeat("y", maxLogLine) + " "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %.20q in the log", want)
		}
	}
	if strings.Contains(text.String(), "rest") {
		t.Error("half a line is in the log")
	}
}
