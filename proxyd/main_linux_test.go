package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// TestMain makes the test binary proxyd itself when it is started as such.
func TestMain(m *testing.M) {
	if os.Getenv("SRT_TEST_PROXYD") != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// srt is the other end of proxyd's channel.
type srt struct {
	*net.UnixConn
	cmd    *exec.Cmd
	stderr strings.Builder
}

func start(t *testing.T) *srt {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "srt"), os.NewFile(uintptr(fds[1]), "proxyd")
	defer theirs.Close()
	defer ours.Close()
	c, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	s := &srt{UnixConn: c.(*net.UnixConn)}
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = []string{"SRT_TEST_PROXYD=1"}
	s.cmd.ExtraFiles = []*os.File{theirs}
	s.cmd.Stderr = io.MultiWriter(&s.stderr, handStderr{})
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); s.cmd.Process.Kill(); s.cmd.Wait() })
	return s
}

// handStderr shows the records of a proxyd that is run by hand.
type handStderr struct{}

func (handStderr) Write(p []byte) (int, error) {
	if *byHand != "" {
		os.Stderr.Write(p)
	}
	return len(p), nil
}

func (s *srt) say(t *testing.T, cmd wire.ProxyCommand, files ...*os.File) {
	t.Helper()
	cmd.Version = wire.Version
	b, err := wire.Encode(cmd)
	if err != nil {
		t.Fatal(err)
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if _, _, err := s.WriteMsgUnix(b, oob, nil); err != nil {
		t.Fatal(err)
	}
}

func (s *srt) hear(t *testing.T) wire.ProxyEvent {
	t.Helper()
	s.SetReadDeadline(time.Now().Add(10 * time.Second))
	b := make([]byte, wire.MaxProxyMessage)
	n, err := s.Read(b)
	if err != nil {
		t.Fatalf("no event: %v; stderr: %s", err, s.stderr.String())
	}
	var e wire.ProxyEvent
	if err := wire.Decode(b[:n], wire.MaxProxyMessage, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func (s *srt) ready(t *testing.T, seq uint64) {
	t.Helper()
	if e := s.hear(t); e.Kind != wire.EventReady || e.Seq != seq || e.Fault != nil {
		t.Fatalf("event %+v (%v), want ready %d", e, e.Fault, seq)
	}
}

func config(allowed ...string) *wire.ProxyConfig {
	return &wire.ProxyConfig{Version: wire.Version, AllowedDomains: allowed, DeniedDomains: []string{}, DeniedDomainReasons: map[string]string{}, DeniedResolvedAddresses: []string{}}
}

func TestOneCommandFromAttachToDetach(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello from %s", r.Host) }))
	defer origin.Close()
	at := strings.TrimPrefix(origin.URL, "http://")

	s := start(t)
	s.say(t, wire.ProxyCommand{Seq: 1, Op: wire.OpConfigure, Config: config(at)})
	s.ready(t, 1)
	f, addr := proxytest.Listener(t)
	s.say(t, wire.ProxyCommand{Seq: 2, Op: wire.OpAttach, Attach: &wire.Attach{CommandID: "c1", Listeners: []wire.Listener{{Role: wire.RoleProxy}}}}, f)
	f.Close()
	s.ready(t, 2)

	proxy, _ := url.Parse("http://" + addr)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}, Timeout: 10 * time.Second}
	get := func(u string) (int, string) {
		r, err := client.Get(u)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	if code, body := get(origin.URL); code != 200 || body != "hello from "+at {
		t.Errorf("allowed: %d %q", code, body)
	}
	code, body := get("http://other.example/")
	if first, _, _ := strings.Cut(body, "\n"); code != 403 || first != "Connection blocked by network allowlist" {
		t.Errorf("denied: %d %q", code, body)
	}
	e := s.hear(t)
	if e.Kind != wire.EventViolation || e.Violation.Target != "other.example:80" || e.Violation.Reason != "not on the allow list" || e.Violation.CommandID != "c1" {
		b, _ := json.Marshal(e)
		t.Errorf("event %s", b)
	}

	s.say(t, wire.ProxyCommand{Seq: 3, Op: wire.OpDetach, Detach: "c1"})
	s.ready(t, 3)
	if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", at)
		if line, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			t.Errorf("the listener of a detached command answers %q", line)
		}
	}
	s.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("proxyd ended with %v; stderr: %s", err, s.stderr.String())
	}
}
