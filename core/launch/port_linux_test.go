package launch

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
)

// runWithPort is runDirectly with a port that srt opens itself, as on macOS. @PORT@ in the arguments is its number.
func runWithPort(t *testing.T, proxy string, hooks Hooks, argv ...string) (port int, wait func() Outcome) {
	t.Helper()
	r, wait := runDirectly(t, "good", Options{Hooks: hooks}, argv...)
	if r.o.Proxy = "/nonexistent/proxyd"; proxy != "" {
		r.o.Proxy = fake(t, "proxyd-"+proxy)
	}
	var err error
	if r.place.listener, r.place.held, port, err = ownPort(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(r.place.listener)
		if r.place.held >= 0 {
			unix.Close(r.place.held)
		}
	})
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "@PORT@", strconv.Itoa(port))
	}
	return port, wait
}

// free says whether anybody else could listen on the port of a loopback address.
func free(host string, port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// The command may reach its port as long as it runs. So the port stays srt's, on both loopback addresses, whatever becomes of proxyd, and
// every connection to it ends at once.
func TestOwnPortStaysOurs(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	for name, c := range map[string]struct{ proxy, notice string }{
		"proxyd dies":                      {"dies of a connection", "proxyd ended: " + noConnections},
		"proxyd refuses its configuration": {"refuses", `parse "bad": not a domain: ` + noConnections},
		"there is no proxyd":               {"", `start "/nonexistent/proxyd": no such file or directory: ` + noConnections},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			noticed := make(chan string, 8)
			port, wait := runWithPort(t, c.proxy, Hooks{Notice: func(text string) {
				noticed <- text
				if err := os.WriteFile(dir+"/noticed", nil, 0o600); err != nil {
					t.Error(err)
				}
			}}, bash, "-c", "exec 2>/dev/null; "+connect+"; until [ -e "+dir+"/noticed ]; do sleep 0.05; done; "+
				`for i in 1 2 3; do exec 4<>/dev/tcp/127.0.0.1/@PORT@ || exit 5; read -r line <&4 && exit 6; done; (exec 4<>/dev/tcp/::1/@PORT@) && exit 7; exit 8`)
			done := make(chan [2]bool)
			go func() {
				text := <-noticed
				if text != c.notice {
					t.Errorf("notice %q, want %q", text, c.notice)
				}
				done <- [2]bool{free("127.0.0.1", port), free("::1", port)}
			}()
			if out := wait(); out.Fault != nil || out.Exit != (wire.Exit{Code: 8}) {
				t.Errorf("got %+v (%v), want status 8", out, out.Fault)
			}
			if got := <-done; got[0] || got[1] {
				t.Errorf("somebody else could listen on the port of 127.0.0.1: %v, of ::1: %v", got[0], got[1])
			}
		})
	}
}

func TestOwnPortServes(t *testing.T) {
	bash := srttest.RequireTool(t, "bash")
	_, wait := runWithPort(t, "good", Hooks{}, bash, "-c", `for i in 1 2; do [ "$(`+connect+`)" = hello ] || exit 1; done`)
	if out := wait(); out.Fault != nil || out.Exit.Code != 0 {
		t.Errorf("got %+v (%v)", out, out.Fault)
	}
}

func TestOwnPortSkipsATakenOne(t *testing.T) {
	for range 20 {
		listener, held, port, err := ownPort()
		if err != nil {
			t.Fatal(err)
		}
		if free("127.0.0.1", port) || held >= 0 && free("::1", port) {
			t.Errorf("port %d is not held", port)
		}
		if _, err := holdLoopback6(port); held >= 0 && err == nil {
			t.Errorf("port %d of ::1 is held twice", port)
		}
		unix.Close(listener)
		if held >= 0 {
			unix.Close(held)
		}
	}
}
