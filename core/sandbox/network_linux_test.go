package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// origin is a server on the host's loopback; its host:port.
func originServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// fetch is a shell line that fetches / from host:port through the proxy, with what every sandbox has.
func fetch(hostport string) string {
	host, port, _ := net.SplitHostPort(hostport)
	return fmt.Sprintf(`printf 'GET / HTTP/1.0\r\nHost: %s\r\n\r\n' | /dev/srt/connect %s %s 2>/dev/null | tail -n 1`, hostport, host, port)
}

func TestNetworkListsOfConfigAndCommand(t *testing.T) {
	at := originServer(t)
	m := manager(t, Config{})
	run := func(id string) string {
		t.Helper()
		out, err := m.Shell(t.Context(), fetch(at)).With(WithCommandID(id)).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := run("a"); got == "hello" {
		t.Error("nothing is allowed, and it is reached")
	}
	if err := m.RegisterNetworkLists("b", NetworkLists{AllowedDomains: []string{at}}); err != nil {
		t.Fatal(err)
	}
	if got := run("b"); got != "hello" {
		t.Errorf("with lists of its own: %q", got)
	}
	if got := run("a"); got == "hello" {
		t.Error("another command has the lists too")
	}
	m.UnregisterNetworkLists("b")
	if got := run("b"); got == "hello" {
		t.Error("the lists are still there")
	}
	if err := m.UpdateConfig(Config{Network: NetworkConfig{AllowedDomains: []string{at}}}); err != nil {
		t.Fatal(err)
	}
	if got := run("a"); got != "hello" {
		t.Errorf("under the new Config: %q", got)
	}
	if got := m.Config().Network.AllowedDomains; len(got) != 1 || got[0] != at {
		t.Errorf("the Config in force has %q", got)
	}
	for list, want := range map[string]string{
		"*":           `register network lists "allowedDomains": `,
		"http://a.b/": `register network lists "allowedDomains": `,
	} {
		if err := m.RegisterNetworkLists("b", NetworkLists{AllowedDomains: []string{list}}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gives %v", list, err)
		}
	}
	if err := m.UpdateConfig(Config{Network: NetworkConfig{AllowedDomains: []string{"*"}}}); err == nil {
		t.Error("a Config that is not valid is taken")
	}
	if got := run("a"); got != "hello" {
		t.Errorf("after an update that failed: %q", got)
	}
	if got := len(m.Violations().ForKey("a")); got != 2 {
		t.Errorf("%d violations of a, want 2", got)
	}
}

// Lists that come and go hold for the next connection of a command that runs.
func TestNetworkListsOfARunningCommand(t *testing.T) {
	at := originServer(t)
	m := manager(t, Config{})
	cmd := m.Shell(t.Context(), "while read x; do "+fetch(at)+"; echo .; done").With(WithCommandID(strings.Repeat("k", 100) + "tail"))
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
	reached := func() bool {
		t.Helper()
		io.WriteString(in, "go\n")
		if !lines.Scan() {
			t.Fatal("the command ended")
		}
		text := lines.Text()
		for !strings.HasSuffix(text, ".") {
			lines.Scan()
			text += lines.Text()
		}
		return strings.Contains(text, "hello")
	}
	key := strings.Repeat("k", 100) + "another tail" // the first hundred characters count
	for i, step := range []struct {
		change func() error
		want   bool
	}{
		{func() error { return nil }, false},
		{func() error { return m.RegisterNetworkLists(key, NetworkLists{AllowedDomains: []string{at}}) }, true},
		{func() error {
			return m.RegisterNetworkLists("another", NetworkLists{DeniedDomains: []string{at}})
		}, true},
		{func() error {
			return m.RegisterNetworkLists(key, NetworkLists{AllowedDomains: []string{at}, DeniedDomains: []string{"*"}})
		}, false},
		{func() error { return m.RegisterNetworkLists(key, NetworkLists{AllowedDomains: []string{at}}) }, true},
		{func() error { m.UnregisterNetworkLists(key); return nil }, false},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if got := reached(); got != step.want {
			t.Errorf("step %d: reached %v, want %v", i, got, step.want)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := m.RegisterNetworkLists(key, NetworkLists{AllowedDomains: []string{at}}); err != nil {
		t.Errorf("after its end: %v", err)
	}
	long := make([]string, 10_000)
	for i := range long {
		long[i] = fmt.Sprintf("host%d.example", i)
	}
	want := "register network lists: they have 188890 bytes, at most 65536 are accepted: put what holds for every command into the Config"
	if err := m.RegisterNetworkLists(key, NetworkLists{AllowedDomains: long}); err == nil || err.Error() != want {
		t.Errorf("long lists give %v", err)
	}
}

func TestAnnotate(t *testing.T) {
	m := manager(t, Config{})
	cmd := m.Shell(t.Context(), "/dev/srt/connect evil.example 443 2>/dev/null; echo x > /etc/srt-test; echo done >&2")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	got := m.Annotate(cmd.Key(), string(out))
	for _, want := range []string{"done\n", "\n<sandbox_violations>\n", "deny network-outbound evil.example:443 (not on the allow list)\n", "deny file-write /etc/srt-test\n", "</sandbox_violations>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if got := m.Annotate("another", "text"); got != "text" {
		t.Errorf("another command gets %q", got)
	}
}

func TestFileAudit(t *testing.T) {
	m := manager(t, Config{Filesystem: FilesystemConfig{AllowWrite: Paths(".")}}, WithFileAudit())
	events := m.Events(100)
	line := "mkdir d; ln -s x d/l; cat d/l 2>&-; mkdir /etc/srt-test 2>&-; :"
	if err := m.Shell(t.Context(), line).With(WithCommandID("id")).Run(); err != nil {
		t.Fatal(err)
	}
	m.Close()
	var got []string
	for e := range events.C() {
		got = append(got, fmt.Sprint(e.Allowed, " ", e.Operation, " ", strings.TrimPrefix(e.Target, m.o.dir), " ", e.Process, " ", e.Count, " ", e.Key))
		if e.Command != line || time.Since(e.Time) > time.Hour || (e.Reason == "") {
			t.Errorf("event %+v", e)
		}
	}
	slices.Sort(got)
	want := []string{"false file-write /etc/srt-test mkdir 1 id", "true file-write /d mkdir 1 id", "true file-write /d/l ln 1 id"}
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestAskAndAudit(t *testing.T) {
	at := originServer(t)
	var mu sync.Mutex
	var asked []Question
	m := manager(t, Config{}, WithAudit(), WithAsk(func(_ context.Context, q Question) bool {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q)
		return q.Key == "yes"
	}))
	events := m.Events(16)
	for _, id := range []string{"yes", "no"} {
		out, err := m.Shell(t.Context(), fetch(at)).With(WithCommandID(id), WithCommandText("fetch it")).Output()
		if err != nil || (string(out) == "hello") != (id == "yes") {
			t.Errorf("%s: %q, %v", id, out, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 2 || asked[0].Key != "yes" || asked[0].Command != "fetch it" || fmt.Sprintf("%s:%d", asked[0].Host, asked[0].Port) != at {
		t.Errorf("asked %+v", asked)
	}
	for _, want := range []Event{{Key: "yes", Allowed: true}, {Key: "no"}} {
		select {
		case e := <-events.C():
			if e.Key != want.Key || e.Allowed != want.Allowed || e.Target != at || e.Command != "fetch it" {
				t.Errorf("event %+v, want %+v", e, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no event")
		}
	}
	if events.Dropped() != 0 {
		t.Error("events were dropped")
	}
}
