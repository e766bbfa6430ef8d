//go:build linux || darwin

package oneshot

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func startFakeProxy(t *testing.T, name string) *Proxy {
	t.Helper()
	p, err := StartProxy(fake(t, "proxyd-"+name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestProxyConversation(t *testing.T) {
	p := startFakeProxy(t, "good")
	ctx := t.Context()
	next := func() string {
		t.Helper()
		select {
		case e := <-p.Events():
			return e.Violation.Target
		case <-time.After(20 * time.Second):
			t.Fatal("no event")
			return ""
		}
	}
	if err := p.Configure(ctx, peertest.Config("example.com")); err != nil {
		t.Fatal(err)
	}
	if err := p.Configure(ctx, peertest.Config("bad")); err == nil || err.Error() != `parse "bad": not a domain` {
		t.Errorf("a refused configuration gives %v", err)
	}
	var many []string
	for i := range 20_000 {
		many = append(many, fmt.Sprintf("host%d.example.com", i))
	}
	if err := p.Configure(ctx, peertest.Config(many...)); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "20000 domains" {
		t.Errorf("a long configuration arrives as %q", got)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a := wire.Attach{CommandID: "1", Listeners: []wire.Listener{{Role: wire.RoleProxy}, {Role: wire.RoleMirror, Target: "127.0.0.1:5432"}}}
	if err := p.Attach(ctx, a, []*os.File{r, w}); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "2 listeners, 2 descriptors" {
		t.Errorf("listeners arrive as %q", got)
	}
	if r.Close() == nil || w.Close() == nil {
		t.Error("Attach left a descriptor open on this side")
	}
	if err := p.Answer(ctx, wire.Answer{ID: 7, Allow: true}); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "answer 7 true" {
		t.Errorf("an answer arrives as %q", got)
	}
	if err := p.Detach(ctx, "1"); err != nil {
		t.Error(err)
	}
}

func TestMisbehavingProxy(t *testing.T) {
	peertest.RunProxies(t, func(t *testing.T, name string) (wire.Proxy, string) {
		p := startFakeProxy(t, name)
		if limit := peertest.Short(name); limit != 0 {
			p.SetLimit(limit)
		}
		return p, p.path
	})
	t.Run("answers everything", func(t *testing.T) {
		p := startFakeProxy(t, "answers everything")
		for range 3 {
			if err := p.Configure(t.Context(), peertest.Config()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAttachClosesFilesWhenProxyIsGone(t *testing.T) {
	p := startFakeProxy(t, "crashes")
	_ = p.Configure(t.Context(), peertest.Config())
	for range p.Events() {
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	err = p.Attach(t.Context(), wire.Attach{CommandID: "1"}, []*os.File{r})
	if err == nil || !strings.Contains(err.Error(), "the peer closed the channel") {
		t.Errorf("got %v", err)
	}
	if r.Close() == nil {
		t.Error("the listener is still open here: a connection would hang instead of failing")
	}
}

func TestCloseEndsAHangingProxy(t *testing.T) {
	p := startFakeProxy(t, "hangs")
	failed := make(chan error, 1)
	go func() { failed <- p.Configure(t.Context(), peertest.Config()) }()
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	p.Close()
	p.Close()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if err := <-failed; err == nil {
		t.Error("the call that waited got no error")
	}
}
