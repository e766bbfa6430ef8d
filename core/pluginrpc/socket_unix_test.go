//go:build unix

package pluginrpc

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func TestPeerOnASocketThatDoesNotStart(t *testing.T) {
	runStarts(t, false, map[string]wire.Fault{
		"listens nowhere":    {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
		"is another process": {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
	})
}

func TestHelperThatIsNotThere(t *testing.T) {
	_, err := StartHelper(t.Context(), Options{Path: "/nonexistent/srt-linux-rpc"})
	if want := `start "/nonexistent/srt-linux-rpc": no such file or directory`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
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
	d, err := startHelper(t, "good", false).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"args=serve", "env PATH", "env SRT_SESSION", "env PLUGIN_PROTOCOL_VERSIONS", "env PLUGIN_UNIX_SOCKET_DIR", `stdin="",<nil>`, "own session"}
	got := slices.DeleteFunc(d.Features, func(f string) bool { return strings.HasPrefix(f, "fd ") }) // inherited, but see sealInherited
	if !slices.Equal(got, want) {
		t.Errorf("the helper inherited %q, want %q", got, want)
	}
}

// What is too long for a message, and listeners, come over the channel beside the conversation.
func TestProxyGetsDescriptors(t *testing.T) {
	p := startProxy(t, "good", false)
	ctx := t.Context()
	if err := p.Configure(ctx, peertest.Config(strings.Repeat("x", wire.MaxProxyMessage))); err != nil {
		t.Fatal(err)
	}
	if got := next(t, p); got != "configure, 1 descriptors" {
		t.Errorf("a long configuration arrives as %q", got)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	file, err := l.(*net.TCPListener).File()
	l.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Attach(ctx, wire.Attach{CommandID: "1", Listeners: []wire.Listener{{Role: wire.RoleProxy}}}, []*os.File{file}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, p); got != "attach, 1 descriptors" {
		t.Errorf("listeners arrive as %q", got)
	}
	if file.Close() == nil {
		t.Error("Attach left a descriptor open on this side")
	}
}

func TestNothingIsLeft(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) { startAndEnd(t, byPort) })
}

func startAndEnd(t *testing.T, byPort bool) {
	settle := func() (goroutines, descriptors int) {
		for range 50 {
			time.Sleep(20 * time.Millisecond)
			runtime.GC()
			entries, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Skip("no /proc")
			}
			if g := runtime.NumGoroutine(); g == goroutines && len(entries) == descriptors {
				break
			} else {
				goroutines, descriptors = g, len(entries)
			}
		}
		return goroutines, descriptors
	}
	round := func() {
		h := startHelper(t, "good", byPort)
		if _, err := h.Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := startProxy(t, "good", byPort)
		if err := p.Configure(t.Context(), peertest.Config()); err != nil {
			t.Fatal(err)
		}
		h.Close()
		p.Close()
		if _, err := StartHelper(t.Context(), Options{Path: fake(t, "helper-says rubbish"), byPort: byPort}); err == nil {
			t.Fatal("it started")
		}
	}
	before := leftovers(t)
	round()
	g, d := settle()
	for range 3 {
		round()
	}
	if g2, d2 := settle(); g2 > g || d2 > d {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines became %d, %d descriptors %d\n%s", g, g2, d, d2, buf[:runtime.Stack(buf, true)])
	}
	if after := leftovers(t); len(after) > len(before) {
		t.Errorf("directories are left: %q", after)
	}
}
