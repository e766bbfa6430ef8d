package examples

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

// build builds packages of the source tree into a directory, one program a name.
func build(t *testing.T, programs map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bin")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, pkg := range programs {
		c := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		c.Dir = srttest.Root(t)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return dir
}

func TestExamples(t *testing.T) {
	srttest.RequireBwrap(t)
	libexec := build(t, map[string]string{"srt-linux": "./helpers/srt-linux", "srt-linux-rpc": "./helpers/srt-linux/rpc", "proxyd-rpc": "./proxyd/rpc"})
	bin := build(t, map[string]string{"mcphost": "./core/examples/mcphost", "agent": "./core/examples/agent", "testrunner": "./core/examples/testrunner"})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
	defer origin.Close()
	at := strings.TrimPrefix(origin.URL, "http://")
	host, port, _ := strings.Cut(at, ":")
	fetch := fmt.Sprintf(`printf 'GET / HTTP/1.0\r\n\r\n' | /dev/srt/connect %s %s 2>/dev/null | grep -q hello`, host, port)

	for name, c := range map[string]struct {
		args   []string
		stdin  string
		want   []string
		status int
	}{
		"mcphost": {[]string{"sh", "-c", `while read line; do echo x > /etc/srt-test; echo "{\"jsonrpc\":\"2.0\",\"result\":{}}"; done 2>/dev/null`}, "",
			[]string{`initialize: {"jsonrpc":"2.0","result":{}}`, `tools/list: {"jsonrpc":"2.0","result":{}}`, "refused: deny file-write /etc/srt-test"}, 0},
		"agent": {nil, "echo one\n/dev/srt/connect evil.example 443; exit 4\n",
			[]string{"status: 0\nstdout: one\n", "status: exit status 4\n", "<sandbox_violations>\ndeny network-outbound evil.example:443 (not on the allow list)\n</sandbox_violations>"}, 0},
		"testrunner": {[]string{"alone==" + fetch, "with network=" + at + "=" + fetch}, "",
			[]string{"alone: FAIL: exit status 1\n", "deny network-outbound " + at, "with network: ok\n"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			x := exec.Command(filepath.Join(bin, name), append([]string{"-libexec", libexec}, c.args...)...)
			x.Stdin = strings.NewReader(c.stdin)
			x.Dir = t.TempDir()
			out, _ := x.CombinedOutput()
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if x.ProcessState.ExitCode() != c.status {
				t.Errorf("status %d, want %d", x.ProcessState.ExitCode(), c.status)
			}
		})
	}
}
