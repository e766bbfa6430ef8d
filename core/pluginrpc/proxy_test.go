package pluginrpc

import (
	"bufio"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func startProxy(t *testing.T, name string, byPort bool) *Proxy {
	t.Helper()
	p, err := StartProxy(t.Context(), Options{Path: fake(t, "proxyd-"+name), byPort: byPort})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestMisbehavingProxy(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) {
		peertest.RunProxies(t, func(t *testing.T, name string) (wire.Proxy, string) {
			p := startProxy(t, name, byPort)
			if limit := peertest.Short(name); limit != 0 {
				p.SetLimit(limit)
			}
			return p, p.peer.name
		})
	})
}

// next is what proxyd tells next.
func next(t *testing.T, p *Proxy) string {
	t.Helper()
	select {
	case e := <-p.Events():
		return e.Violation.Target
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
		return ""
	}
}

func TestProxyConversation(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) {
		p := startProxy(t, "good", byPort)
		ctx := t.Context()
		if err := p.Configure(ctx, peertest.Config("example.com")); err != nil {
			t.Fatal(err)
		}
		if err := p.Configure(ctx, peertest.Config("bad")); err == nil || err.Error() != `parse "bad": not a domain` {
			t.Errorf("a refused configuration gives %v", err)
		}
		if err := p.Answer(ctx, wire.Answer{ID: 7, Allow: true}); err != nil {
			t.Fatal(err)
		}
		if got := next(t, p); got != "answer 7 true" {
			t.Errorf("an answer arrives as %q", got)
		}
		if err := p.Detach(ctx, "1"); err != nil {
			t.Error(err)
		}
		if len(p.Events()) != 1 {
			t.Error("what proxyd said before it answered Detach is not there yet")
		}
	})
}

// An embedding program that is killed takes its peers along.
func TestNothingOutlivesTheHost(t *testing.T) {
	each(t, func(t *testing.T, byPort bool) { killHosts(t, byPort) })
}

func killHosts(t *testing.T, byPort bool) {
	before := leftovers(t)
	for name, delay := range map[string]time.Duration{"when all runs": 0, "at the start": 15 * time.Millisecond, "a little later": 40 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(fake(t, "host"), fake(t, "helper-good"), fake(t, "proxyd-good"))
			if byPort {
				c.Args = append(c.Args, "by port")
			}
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
				for end := time.Now().Add(10 * time.Second); pid != 0 && alive(pid); time.Sleep(10 * time.Millisecond) {
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
