package pluginrpc

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

// program is one of srt's, where scripts/test-wine has put them and as a session finds them.
func program(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SRT_WINE_INSTALL")
	if dir == "" {
		t.Skip("for scripts/test-wine only: it would ask this machine's own installation")
	}
	path, err := oneshot.FindIn(filepath.Join(dir, "libexec", "srt"), name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHelperOnWine(t *testing.T) {
	h, err := StartHelper(t.Context(), Options{Path: program(t, "srt-windows-rpc")})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if d, err := h.Describe(t.Context()); err != nil || d.Name != "srt-windows" || d.OS != "windows" || d.Build == "unknown" {
		t.Errorf("describe: %+v, %v", d, err)
	}
	r, err := h.Check(t.Context(), wire.CheckRequest{Version: wire.Version})
	if err != nil || len(r.Items) == 0 || r.Items[0].Name != "installation" || r.Items[0].State != wire.CheckFail || r.Items[0].Fix != "srt-windows install" {
		t.Errorf("check: %+v, %v", r, err)
	}
	_, err = h.Prepare(t.Context(), request(`C:\windows\system32\cmd.exe`))
	if f, ok := errors.AsType[*wire.Fault](err); !ok || f.Code != wire.CodeUnsupported || f.Hint != "srt-windows install" {
		t.Errorf("a plan before install: %v", err)
	}
}

func TestProxyOnWine(t *testing.T) {
	p, err := StartProxy(t.Context(), Options{Path: program(t, "proxyd-rpc")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	go func() {
		for range p.Events() {
		}
	}()
	ctx := t.Context()
	origin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer origin.Close()
	long := []string{origin.Addr().String()}
	for i := range 20_000 { // far more than a message elsewhere
		long = append(long, fmt.Sprintf("host%d.example.com", i))
	}
	if err := p.Configure(ctx, peertest.Config(long...)); err != nil {
		t.Fatal(err)
	}
	token := strings.Repeat("0123456789abcdef", 2)
	attach := wire.Attach{CommandID: "1", Listeners: []wire.Listener{{Role: wire.RoleProxy}}, Listen: "127.0.0.1:61210", Token: token}
	if err := p.Attach(ctx, attach, nil); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"": "HTTP/1.1 407 ", "srt:" + strings.Repeat("x", 32): "HTTP/1.1 407 ", "srt:" + token: "HTTP/1.1 200 "} {
		c, err := net.Dial("tcp", attach.Listen)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic %s\r\n\r\n", origin.Addr(), base64.StdEncoding.EncodeToString([]byte(user)))
		if line, _ := bufio.NewReader(c).ReadString('\n'); !strings.HasPrefix(line, want) {
			t.Errorf("as %q: %q", user, line)
		}
		c.Close()
	}
	if err := p.Detach(ctx, "1"); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", attach.Listen); err == nil {
		c.Close()
		t.Error("the port of a command that has ended is open")
	}
}

// Without srt's certificate no peer opens a port: started by hand it would serve the whole machine.
func TestNobodyIsServedWithoutACertificate(t *testing.T) {
	t.Setenv(envCertificate, "")
	if err := ServeHelper(selfDescribing{}); err == nil || err.Error() != "there is no certificate of srt's, who alone may connect" {
		t.Errorf("got %v", err)
	}
}
