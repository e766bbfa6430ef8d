//go:build unix

package pluginrpc

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func startProxy(t *testing.T, name string) *Proxy {
	t.Helper()
	p, err := StartProxy(t.Context(), Options{Path: fake(t, "proxyd-"+name)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestMisbehavingProxy(t *testing.T) {
	peertest.RunProxies(t, func(t *testing.T, name string) (wire.Proxy, string) {
		p := startProxy(t, name)
		if limit := peertest.Short(name); limit != 0 {
			p.SetLimit(limit)
		}
		return p, p.peer.name
	})
}

func TestProxyConversation(t *testing.T) {
	p := startProxy(t, "good")
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
	if err := p.Configure(ctx, peertest.Config(strings.Repeat("x", wire.MaxProxyMessage))); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "configure, 1 descriptors" {
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
	if got := next(); got != "attach, 1 descriptors" {
		t.Errorf("listeners arrive as %q", got)
	}
	if file.Close() == nil {
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
	if len(p.Events()) != 1 {
		t.Error("what proxyd said before it answered Detach is not there yet")
	}
}

func TestNothingIsLeft(t *testing.T) {
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
		h := startHelper(t, "good")
		if _, err := h.Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := startProxy(t, "good")
		if err := p.Configure(t.Context(), peertest.Config()); err != nil {
			t.Fatal(err)
		}
		h.Close()
		p.Close()
		if _, err := StartHelper(t.Context(), Options{Path: fake(t, "helper-says rubbish")}); err == nil {
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

// An embedding program that is killed takes its peers along.
func TestNothingOutlivesTheHost(t *testing.T) {
	before := leftovers(t)
	for name, delay := range map[string]time.Duration{"when all runs": 0, "at the start": 15 * time.Millisecond, "a little later": 40 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(fake(t, "host"), fake(t, "helper-good"), fake(t, "proxyd-good"))
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var pids [2]int
			if delay != 0 {
				time.Sleep(delay)
			} else if _, err := fmt.Fscan(bufio.NewReader(out), &pids[0], &pids[1]); err != nil {
				t.Fatal(err)
			}
			c.Process.Kill()
			c.Wait()
			for _, pid := range pids {
				for end := time.Now().Add(10 * time.Second); pid != 0 && unix.Kill(pid, 0) == nil && alive(pid); time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Errorf("process %d is still there", pid)
						break
					}
				}
			}
			for end := time.Now().Add(10 * time.Second); len(leftovers(t)) > len(before); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("directories are left: %q", leftovers(t))
					break
				}
			}
		})
	}
}

// alive is false for a process that has ended and waits for somebody to take note.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}
