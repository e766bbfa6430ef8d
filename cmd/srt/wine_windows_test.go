package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// installed is where scripts/test-wine has put the programs.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SRT_WINE_INSTALL")
	if dir == "" {
		t.Skip("for scripts/test-wine only: it would change this machine")
	}
	return dir
}

// folder is a new one that stays: Wine cannot remove files as Go's testing does it.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "srt-test")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// typed runs srt.exe as a user types it, in a new empty folder.
func typed(t *testing.T, words ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(installed(t), "bin", "srt.exe"), words...)
	cmd.Dir = folder(t)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestTypedOnWine(t *testing.T) {
	const notInstalled = "srt: error: read the installation: the sandbox account is not installed on this machine\nsrt: hint: srt-windows install\n"
	for name, c := range map[string]struct {
		words  []string
		status int
		stderr string
	}{
		"a command before install":  {[]string{"cmd", "/c", "echo", "ran"}, 125, notInstalled},
		"a line before install":     {[]string{"-c", "echo ran"}, 125, notInstalled},
		"a plan before install":     {[]string{"--dry-run", "cmd"}, 125, notInstalled},
		"an unknown option":         {[]string{"--nope", "cmd"}, 125, "srt: error: unknown option \"--nope\"\nsrt: hint: srt --help lists the options; to run a command of that name: srt -- --nope\n"},
		"questions":                 {[]string{"--ask", "cmd"}, 125, "srt: error: option --ask is not there on Windows, where the command has the keyboard\nsrt: hint: add the hosts to network.allowedDomains\n"},
		"a descriptor":              {[]string{"--pass-fd", "3", "cmd"}, 125, "srt: error: option --pass-fd is not there on Windows, where descriptors have no numbers\n"},
		"a control channel":         {[]string{"--control-fd", "3", "cmd"}, 125, "srt: error: option --control-fd is not there on Windows, where descriptors have no numbers\n"},
		"settings that are missing": {[]string{"-s", `C:\nowhere\s.json`, "cmd"}, 125, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := typed(t, c.words...)
			if status != c.status || stdout != "" || c.stderr != "" && stderr != c.stderr || c.stderr == "" && !strings.Contains(stderr, `C:\nowhere\s.json`) {
				t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
			}
		})
	}
	if status, stdout, _ := typed(t, "--version"); status != 0 || !strings.HasPrefix(stdout, "srt "+version+" (") {
		t.Errorf("--version: %d, %q", status, stdout)
	}
	if status, stdout, _ := typed(t, "doctor"); status != 1 || !strings.HasPrefix(stdout, "FAIL installation: ") {
		t.Errorf("doctor: %d, %q", status, stdout)
	}
}

// TestShellsOnWine: whoever runs a line, it arrives as one word.
func TestShellsOnWine(t *testing.T) {
	installed(t)
	dir := folder(t)
	for _, name := range []string{"bash.exe", "pwsh.exe", "PowerShell.exe", "fish.exe"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const line = `Get-Item "a b" | % { $_ }`
	system, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	cmd := []string{filepath.Join(system, "cmd.exe"), "/d", "/s", "/c", line}
	for shell, want := range map[string][]string{
		filepath.Join(dir, "bash.exe"):       {filepath.Join(dir, "bash.exe"), "-c", line},
		filepath.Join(dir, "pwsh.exe"):       {filepath.Join(dir, "pwsh.exe"), "-NoLogo", "-NoProfile", "-Command", line},
		filepath.Join(dir, "PowerShell.exe"): {filepath.Join(dir, "PowerShell.exe"), "-NoLogo", "-NoProfile", "-Command", line},
		filepath.Join(dir, "fish.exe"):       cmd,
		filepath.Join(dir, "zsh.exe"):        cmd, // not there
		"pwsh.exe":                           cmd,
		"/usr/bin/bash":                      cmd,
		"":                                   cmd,
	} {
		if got := shellWords(shell, line); !slices.Equal(got, want) {
			t.Errorf("%q: %q", shell, got)
		}
	}
}

// forge writes down by hand that srt is installed, which is the most that a system that only poses as Windows could be brought to say.
func forge(t *testing.T) {
	t.Helper()
	runFolder := folder(t)
	record := fmt.Sprintf(`{"setup":2,"state":"ready","user":"srt-sandbox","group":"srt-sandbox-users","userSid":"S-1-5-21-1-2-3-1002","groupSid":"S-1-5-21-1-2-3-1003",`+
		`"low":60080,"high":60089,"loopback":false,"sublayer":"6c3ce732-08c8-4a59-873c-0b14920faa77","runFolder":%s,"users":[]}`, strconv.Quote(runFolder))
	key, _, err := registry.CreateKey(registry.LOCAL_MACHINE, `SOFTWARE\srt-windows`, registry.ALL_ACCESS)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	t.Cleanup(func() { _ = registry.DeleteKey(registry.LOCAL_MACHINE, `SOFTWARE\srt-windows`) })
	d, err := windows.SecurityDescriptorFromString("O:BAD:P(A;CI;KA;;;SY)(A;CI;KA;;;BA)") // what srt believes
	if err != nil {
		t.Fatal(err)
	}
	owner, _, ownerErr := d.Owner()
	list, _, listErr := d.DACL()
	const what = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	if err := errors.Join(ownerErr, listErr, windows.SetSecurityInfo(windows.Handle(key), windows.SE_REGISTRY_KEY, what, owner, nil, list, nil)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(key.SetStringValue("Record", record), key.SetBinaryValue("Password", seal(t, "password", "srt windows account password v1"))); err != nil {
		t.Fatal(err)
	}
}

// TestRefusedOnWine goes from srt.exe over proxyd.exe and the plan to srt-windows.exe exec, which must not run anything here. Wine seals for
// whoever its environment names, which exec has cleared: that ends it. How far srt-windows gets otherwise, its own tests show.
func TestRefusedOnWine(t *testing.T) {
	forge(t)
	status, stdout, stderr := typed(t, "cmd", "/c", "echo", "ran")
	if status != 125 || stdout != "" || !strings.HasPrefix(stderr, "srt: error: unseal the account's password: ") || !strings.HasSuffix(stderr, "srt: hint: srt-windows install\n") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	for port := 60080; port <= 60089; port++ {
		if c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			c.Close()
			t.Errorf("somebody still listens on port %d", port)
		}
	}
	status, stdout, _ = typed(t, "--dry-run", "cmd")
	if status != 0 || !strings.Contains(stdout, `"exec"`) {
		t.Errorf("--dry-run: %d, %s", status, stdout)
	}
	settings := filepath.Join(folder(t), "s.json")
	if err := os.WriteFile(settings, []byte(`{"windows": {"proxyPortRange": [60100, 60109]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, stderr = typed(t, "-s", settings, "cmd")
	if want := `srt: error: run "windows.proxyPortRange": the settings say 60100-60109, srt was installed with 60080-60089`; status != 125 || !strings.Contains(stderr, want) ||
		!strings.Contains(stderr, `srt: hint: put "windows": {"proxyPortRange": [60080, 60089]} into the settings`) {
		t.Errorf("another range: %d, %s", status, stderr)
	}
}

// TestProxydOnWine: proxyd.exe opens a port (here above those that Linux gives to connections on their way out) that it has alone, serves who shows the token, and ends with srt.
func TestProxydOnWine(t *testing.T) {
	path, err := oneshot.FindIn(filepath.Join(installed(t), "libexec", "srt"), "proxyd")
	if err != nil {
		t.Fatal(err)
	}
	origin, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer origin.Close()
	go func() {
		for c, err := origin.Accept(); err == nil; c, err = origin.Accept() {
			_, _ = io.WriteString(c, "hello")
			c.Close()
		}
	}()
	p, err := oneshot.StartProxy(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, token := context.Background(), strings.Repeat("ab", wire.MinToken/2)
	domains := []string{origin.Addr().String()}
	for i := range 50_000 { // more than a datagram holds
		domains = append(domains, "host-"+strconv.Itoa(i)+".example")
	}
	a := wire.Attach{CommandID: "c", Listeners: []wire.Listener{{Role: wire.RoleProxy}}, Listen: "127.0.0.1:61080", Token: token}
	if err := errors.Join(p.Configure(ctx, wire.ProxyConfig{Version: wire.Version, AllowedDomains: domains}), p.Attach(ctx, a, nil)); err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("tcp4", a.Listen); err == nil {
		l.Close()
		t.Error("another socket got the port too")
	}
	for header, want := range map[string]string{
		"": "HTTP/1.1 407 ",
		"Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("srt:"+token)) + "\r\n": "HTTP/1.1 200 ",
	} {
		c, err := net.Dial("tcp4", a.Listen)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\n%s\r\n", origin.Addr(), header)
		line, _ := bufio.NewReader(c).ReadString('\n')
		if !strings.HasPrefix(line, want) {
			t.Errorf("with %q: %q", header, line)
		}
		c.Close()
	}
	p.Kill()
	<-p.Done()
	if f := p.Reason(); f == nil || f.Code != wire.CodePeerGone {
		t.Errorf("a proxyd that was killed: %v", f)
	}
}

// TestPortsOnWine: each command has a port of its own; when all are taken that is said.
func TestPortsOnWine(t *testing.T) {
	dir := filepath.Join(installed(t), "libexec", "srt")
	place := func(id string) (*launch.Run, *launch.Place, error) {
		r, err := launch.Begin(launch.Options{Helper: filepath.Join(dir, "srt-windows.exe"), Proxy: filepath.Join(dir, "proxyd.exe")})
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Place(launch.Terms{CommandID: id, Ports: [2]int{61200, 61201}})
		return r, p, err
	}
	a, first, err := place("a")
	defer a.Cancel()
	if err != nil || first.ProxyAddr != "127.0.0.1:61200" || len(first.Token) != wire.MinToken {
		t.Fatalf("%+v, %v", first, err)
	}
	b, second, err := place("b")
	if err != nil || second.ProxyAddr != "127.0.0.1:61201" || second.Token == first.Token {
		t.Fatalf("%+v, %v", second, err)
	}
	c, _, err := place("c")
	c.Cancel()
	f := oneshot.AsFault(errors.Join(err, errors.New("x")))
	if f.Error() != `open a port for the proxy "61200-61201": every port of the range is taken; there can be as many commands at once as it has ports` || f.Hint == "" {
		t.Errorf("a third: %v", err)
	}
	b.Cancel()
	d, again, err := place("d")
	defer d.Cancel()
	if err != nil || again.ProxyAddr != second.ProxyAddr {
		t.Errorf("after one has ended: %+v, %v", again, err)
	}
}
