package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

// What people run in a sandbox, with the built programs and a network that does not leave the machine.

// withSettings runs srt under these settings in dir and returns both outputs together.
func withSettings(t *testing.T, srt, dir, settings string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, srt, append([]string{"--settings", settingsFile(t, settings)}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func settingsFile(t *testing.T, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCurlReachesWhatIsAllowedAndIsToldWhyNot(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "curl")
	srt, _ := installReal(t)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "from the origin") }))
	defer origin.Close()
	address := strings.TrimPrefix(origin.URL, "http://")
	allowed := fmt.Sprintf(`{"network":{"allowedDomains":[%q]}}`, address)
	port := strings.TrimPrefix(address, "127.0.0.1")
	named := fmt.Sprintf(`{"network":{"allowedDomains":["localhost%[1]s","127.0.0.1%[1]s","app.localhost%[1]s"]}}`, port)
	for name, c := range map[string]struct{ settings, line, want string }{
		"one server by all its names, localhost":       {named, "curl -sS http://localhost" + port + "/", "from the origin"},
		"one server by all its names, address":         {named, "curl -sS http://" + address + "/", "from the origin"},
		"one server by all its names, below localhost": {named, "curl -sS http://app.localhost" + port + "/", "from the origin"},
		"an allowed address, by itself":                {allowed, "curl -sS http://" + address + "/", "from the origin"},
		"an allowed address, by the proxy":             {allowed, "curl -sS --noproxy '' http://" + address + "/", "from the origin"},
		"another port of the same address":             {allowed, "curl -sS -i --noproxy '' http://127.0.0.1:1/", "403 Forbidden"},
		"a name that is not allowed":                   {allowed, "curl -sS -i http://example.com/", "Connection blocked by network allowlist"},
		"a name that is not allowed, header":           {"{}", "curl -sS -i http://example.com/", "X-Proxy-Error: blocked-by-sandbox-runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := withSettings(t, srt, t.TempDir(), c.settings, "-c", c.line)
			if !strings.Contains(out, c.want) {
				t.Errorf("%s\nlacks %q", out, c.want)
			}
		})
	}
}

// The report says what was allowed beside what was refused, and what was created when that was asked for.
func TestReportHoldsWhatWasAllowed(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "curl")
	srt, _ := installReal(t)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") }))
	defer origin.Close()
	address := strings.TrimPrefix(origin.URL, "http://")
	settings := fmt.Sprintf(`{"network":{"allowedDomains":[%q]},"filesystem":{"allowWrite":["."]}}`, address)
	for name, c := range map[string]struct {
		option string
		want   []string
	}{
		"connections": {"--explain", []string{"allow network-outbound " + address, "deny network-outbound example.com:80"}},
		"files too":   {"--audit", []string{"allow file-write DIR/made", "allow network-outbound " + address, "deny network-outbound example.com:80"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, report := t.TempDir(), filepath.Join(t.TempDir(), "report")
			out, err := withSettings(t, srt, dir, settings, c.option, "--report", report, "-c",
				"curl -sS --noproxy '' http://"+address+"/; curl -sS -o made http://example.com/")
			if err != nil || out != "x" {
				t.Errorf("output %q, %v", out, err)
			}
			text, err := os.ReadFile(report)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(string(text)) {
				var l struct{ Verdict, Operation, Target, Time string }
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				if at, err := time.Parse(time.RFC3339, l.Time); err != nil || time.Since(at) > time.Hour {
					t.Errorf("time %q", l.Time)
				}
				if !strings.HasPrefix(l.Target, "/dev/") {
					got = append(got, l.Verdict+" "+l.Operation+" "+strings.Replace(l.Target, dir, "DIR", 1))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("report %q, want %q", got, c.want)
			}
		})
	}
}

// gitServer serves one repository with one commit over http, as git's own CGI program does.
func gitServer(t *testing.T) (url string) {
	t.Helper()
	root := t.TempDir()
	git := func(dir string, args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "safe.directory=*"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	work := filepath.Join(root, "work")
	git(root, "init", "-q", "-b", "main", work)
	for _, name := range []string{"file", ".vscode/settings.json"} {
		p := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(work, "add", ".")
	git(work, "commit", "-qm", "one")
	git(root, "clone", "-q", "--bare", work, filepath.Join(root, "repo.git"))
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	})
	t.Cleanup(server.Close)
	return server.URL
}

func TestGitClonesOverHTTP(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "git")
	srt, _ := installReal(t)
	url := gitServer(t)
	settings := fmt.Sprintf(`{"network":{"allowedDomains":[%q]},"filesystem":{"allowWrite":["."]}}`, strings.TrimPrefix(url, "http://"))
	for name, prefix := range map[string]string{"by the address itself": "", "through the proxy": "env -u no_proxy -u NO_PROXY "} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := withSettings(t, srt, dir, settings, "-c", prefix+"git clone -q "+url+"/repo.git copy"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, f := range []string{"file", ".vscode/settings.json"} { // a tracked protected name, in a directory that the run made
				if b, err := os.ReadFile(filepath.Join(dir, "copy", f)); err != nil || string(b) != "text\n" {
					t.Errorf("%s: %q, %v", f, b, err)
				}
			}
		})
	}
	out, err := withSettings(t, srt, t.TempDir(), `{"filesystem":{"allowWrite":["."]}}`, "-c", "env -u no_proxy -u NO_PROXY git clone -q "+url+"/repo.git copy")
	if err == nil || !strings.Contains(out, "403") {
		t.Errorf("without the host on the list: %v\n%s", err, out)
	}
}

// An MCP server speaks JSON lines on stdio; srt may add no byte to them.
func TestMCPServerAnswersOnStdio(t *testing.T) {
	srttest.RequireRoot(t) // npm installs with root's configuration
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "npm", "npx", "node")
	srt, _ := installReal(t)
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", dir, "@modelcontextprotocol/server-filesystem")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, srt, "--settings", settingsFile(t, `{"filesystem":{"allowWrite":["."]}}`),
		"npx", "-y", "@modelcontextprotocol/server-filesystem", dir)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	ask := func(request string, id int) (result map[string]any) {
		fmt.Fprintln(in, request)
		for lines.Scan() {
			var answer struct {
				ID     int            `json:"id"`
				Result map[string]any `json:"result"`
			}
			if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
				t.Fatalf("a line that is no JSON on stdout: %q", lines.Text())
			}
			if answer.ID == id && answer.Result != nil {
				return answer.Result
			}
		}
		t.Fatalf("no answer to %s: %v", request, lines.Err())
		return nil
	}
	hello := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 1)
	if hello["serverInfo"] == nil {
		t.Errorf("initialize: %v", hello)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	tools, _ := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, 2)["tools"].([]any)
	if len(tools) == 0 {
		t.Error("tools/list names no tool")
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// OpenSSH ends at an included file that belongs neither to root nor to its user, and in an ordinary user's sandbox root's files belong to
// nobody. A file that the policy hides stays hidden.
func TestSSHOfAnOrdinaryUserReadsWhatTheSystemIncludes(t *testing.T) {
	srttest.RequireRoot(t)
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "ssh")
	unshare, _ := srttest.RequireTool(t, "unshare"), srttest.RequireTool(t, "setpriv")
	const include = "/etc/ssh/ssh_config.d/20-test.conf"
	dir, err := os.MkdirTemp("/tmp", "srt-ssh-") // everybody may pass
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	for name, c := range map[string]struct{ settings, command, want string }{
		"ssh":               {`{}`, "ssh -T -G example.com | grep ^port", "port 2222\n"},
		"its bytes":         {`{}`, "cat " + include + "; rm -f " + include + " 2>/dev/null; ls /etc/ssh/ssh_config.d", "Port 2222\n20-test.conf\n"},
		"the policy's word": {`{"filesystem":{"denyRead":["` + include + `"]}}`, "cat " + include + " 2>&1", "cat: " + include + ": Permission denied\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), unshare, "--mount", "/bin/sh", "-e", "-c", `mount -t tmpfs -o mode=755 t /etc/ssh/ssh_config.d
				echo Port 2222 >`+include+`
				chmod 644 `+include+`
				mount -t tmpfs -o mode=755 t "$1"
				mkdir "$1/tree" && mount --bind "$0" "$1/tree"
				echo "$2" >"$1/settings.json" && cd "$1"
				exec setpriv --reuid 1001 --regid 1001 --clear-groups env -i HOME=/nonexistent PATH=/usr/bin:/bin "$1/tree/bin/srt" -s settings.json -c "$3"`,
				filepath.Dir(filepath.Dir(srttest.Built(t, "bin/srt"))), dir, c.settings, c.command)
			if out, _ := cmd.CombinedOutput(); string(out) != c.want {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
}

// GNU tar run by root gives what it unpacks to its owners, which nobody can in there, and would fail.
func TestRootUnpacksWhatBelongsToOthers(t *testing.T) {
	srttest.RequireRoot(t)
	srttest.RequireBwrap(t)
	srt, _ := installReal(t)
	dir := t.TempDir()
	if out, err := exec.Command(srttest.RequireTool(t, "tar"), "-C", dir, "--owner=1001", "--group=1001", "-cf", dir+"/a.tar", "--exclude=a.tar", ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := withSettings(t, srt, dir, `{"filesystem":{"allowWrite":["."]}}`, "tar", "xf", "a.tar"); err != nil || out != "" {
		t.Errorf("%v: %s", err, out)
	}
}
