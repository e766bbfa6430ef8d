package relay

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

// proxy answers one connection: reads the head, writes answer, then echoes until the other side is done.
func proxy(t *testing.T, answer string) (addr string, head <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		var b strings.Builder
		for line := ""; line != "\r\n"; b.WriteString(line) {
			if line, err = r.ReadString('\n'); err != nil {
				break
			}
		}
		got <- b.String()
		if _, err := io.WriteString(c, answer); err != nil || !strings.HasSuffix(answer, "\r\n\r\n") {
			return
		}
		_, _ = io.Copy(c, r)
	}()
	return l.Addr().String(), got
}

func TestRelay(t *testing.T) {
	addr, head := proxy(t, "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
	var out strings.Builder
	if err := run("2001:db8::1", "22", addr, strings.NewReader("SSH-2.0-x\r\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got, want := <-head, "CONNECT [2001:db8::1]:22 HTTP/1.1\r\nHost: [2001:db8::1]:22\r\n\r\n"; got != want {
		t.Errorf("head %q, want %q", got, want)
	}
	if out.String() != "SSH-2.0-x\r\n" {
		t.Errorf("got %q back", out.String())
	}
}

func TestRefusals(t *testing.T) {
	denied, _ := proxy(t, "HTTP/1.1 403 not on the allow list\r\n\r\n")
	broken, _ := proxy(t, "HTTP/1.1 200 OK\r\n")
	for name, c := range map[string]struct{ host, port, proxy, err string }{
		"denied":             {"h", "22", denied, "connect h:22: not on the allow list"},
		"broken off":         {"h", "22", broken, "connect h:22: the proxy closed the connection"},
		"no proxy":           {"h", "22", "", "connect: HTTPS_PROXY names no proxy of srt's: the policy allows no network"},
		"port zero":          {"h", "0", denied, `connect: port "0" is not a number from 1 to 65535`},
		"port in words":      {"h", "ssh", denied, `connect: port "ssh" is not a number from 1 to 65535`},
		"host with a header": {"h\r\nX: y", "22", denied, `connect: "h\r\nX: y" is not a host name`},
		"no host":            {"", "22", denied, `connect: "" is not a host name`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(c.host, c.port, c.proxy, strings.NewReader(""), io.Discard); err == nil || err.Error() != c.err {
				t.Errorf("got %v, want %s", err, c.err)
			}
		})
	}
}

func TestProxyAddr(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"the first that fits": {map[string]string{"HTTPS_PROXY": "http://127.0.0.1:4000", "HTTP_PROXY": "http://127.0.0.1:5000"}, "127.0.0.1:4000"},
		"not a far one":       {map[string]string{"HTTPS_PROXY": "http://10.0.0.1:4000", "ALL_PROXY": "http://127.0.0.1:5000/"}, "127.0.0.1:5000"},
		"not a name":          {map[string]string{"HTTPS_PROXY": "http://localhost:4000"}, ""},
		"none":                {nil, ""},
	} {
		if got := proxyAddr(func(n string) string { return c.env[n] }); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
