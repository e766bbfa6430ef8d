package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

func TestDefaultsAllowNothingButReading(t *testing.T) {
	p, err := Resolve(&settings.File{}, here)
	if err != nil {
		t.Fatal(err)
	}
	f := p.Files()
	if len(f.AllowWrite)+len(f.DenyRead)+len(f.AllowRead) != 0 || f.Disabled || len(f.Protected) != len(protected) || !f.GitRules || f.GitConfig || f.ScanDepth != 3 {
		t.Errorf("files %+v", f)
	}
	if got := show(f.DenyWrite); got != "/home/u/.srt-settings.json | /home/u/.config/git/config | /usr/bin/srt" {
		t.Errorf("denyWrite %s", got)
	}
	if want := (wire.ProxyConfig{Version: wire.Version, AllowedDomains: []string{}, DeniedDomains: []string{}, DeniedDomainReasons: map[string]string{}, DeniedResolvedAddresses: []string{}}); !reflect.DeepEqual(p.ProxyConfig(), want) {
		t.Errorf("proxy %+v", p.ProxyConfig())
	}
	r := p.LaunchRequest(wire.Command{Argv: []string{"true"}}, LaunchOptions{CommandID: "c", SessionID: "s"})
	if want := (wire.ProcPolicy{AllowUnixSockets: []wire.PathEntry{}, AllowMachLookup: []string{}}); !reflect.DeepEqual(r.Process, want) {
		t.Errorf("process %+v", r.Process)
	}
	if want := (wire.NetPolicy{ProxyAddr: wire.LinuxProxyAddr, Mirrors: []string{}}); !reflect.DeepEqual(r.Network, want) {
		t.Errorf("network %+v", r.Network)
	}
	if p.UsesNetwork() || len(p.Warnings())+len(p.Notes()) != 0 {
		t.Errorf("network %v, warnings %q, notes %q", p.UsesNetwork(), p.Warnings(), p.Notes())
	}
}

func TestRequestsPassTheStrictCodec(t *testing.T) {
	p := resolve(t, `{"network": {"allowedDomains": ["a.example", "localhost:3000"], "mitmProxy": {"socketPath": "m.sock", "domains": ["b.example"]}}}`, here)
	r := p.LaunchRequest(wire.Command{Argv: []string{"true"}, Env: []string{}, PassFDs: []int{}, IgnoredSignals: []int{}}, LaunchOptions{CommandID: "c", SessionID: "s", Debug: true, Explain: true, Audit: true})
	b, err := wire.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	var back wire.LaunchRequest
	if err := wire.Decode(b, wire.MaxMessage, &back); err != nil || !reflect.DeepEqual(r, back) {
		t.Errorf("%v\n got %+v\nwant %+v", err, back, r)
	}
	if strings.Contains(string(b), "null") {
		t.Errorf("a list is null in %s", b)
	}
	if !r.Host.Debug || !r.Explain || !r.Audit || r.Host.Home != "/home/u" || r.Host.SessionID != "s" {
		t.Errorf("request %+v", r)
	}
	b, err = wire.Encode(p.ProxyConfig())
	if err != nil {
		t.Fatal(err)
	}
	var cfg wire.ProxyConfig
	if err := wire.Decode(b, wire.MaxProxyConfig, &cfg); err != nil || !reflect.DeepEqual(p.ProxyConfig(), cfg) {
		t.Errorf("%v: %+v", err, cfg)
	}
}

func TestEverySettingArrives(t *testing.T) {
	p := resolve(t, `{
		"network": {
			"allowedDomains": ["a.example", "127.0.0.1:5432", "[::1]:80"], "deniedDomains": ["b.example", "*:22"], "deniedDomainReasons": {"b.example": "no"},
			"strictAllowlist": true, "deniedResolvedAddresses": ["10.0.0.0/8"], "allowUnixSockets": ["~/s.sock", "/run/*.sock"], "allowAllUnixSockets": true,
			"allowLocalBinding": true, "allowMachLookup": ["com.example.*"], "httpProxyPort": 1, "socksProxyPort": 2,
			"mitmProxy": {"socketPath": "m[1].sock", "domains": ["a.example"]}, "parentProxy": {"http": "p:1", "noProxy": "x"}
		},
		"ignoreViolations": {"*": ["x"]}, "mandatoryDenySearchDepth": 7, "enableWeakerNestedSandbox": true, "allowNestedUserNamespaces": true,
		"enableWeakerNetworkIsolation": true, "allowAppleEvents": true, "allowPty": true, "bwrapPath": "/opt//bwrap", "git": {"safeDirectories": ["r", "*"]}
	}`, Context{GOOS: "linux", Home: "/home/u", Dir: "/proj", Ask: true})
	r := p.LaunchRequest(wire.Command{}, LaunchOptions{ProxyAddr: "127.0.0.1:9"})
	if want := (wire.NetPolicy{ProxyAddr: "127.0.0.1:9", Mirrors: []string{"127.0.0.1:5432", "[::1]:80"}, AllowLocalBinding: true, WeakerIsolation: true}); !reflect.DeepEqual(r.Network, want) {
		t.Errorf("network %+v", r.Network)
	}
	want := wire.ProcPolicy{AllowAllUnixSockets: true, AllowUnixSockets: []wire.PathEntry{{Path: "/home/u/s.sock", Rule: "~/s.sock"}, {Path: "/run/*.sock", Glob: true, Rule: "/run/*.sock"}},
		AllowNestedUserNamespaces: true, WeakerNested: true, AllowPty: true, AllowAppleEvents: true, AllowMachLookup: []string{"com.example.*"}}
	if !reflect.DeepEqual(r.Process, want) {
		t.Errorf("process %+v", r.Process)
	}
	if r.Files.ScanDepth != 7 || r.Host.BwrapPath != "/opt/bwrap" {
		t.Errorf("depth %d, bwrap %q", r.Files.ScanDepth, r.Host.BwrapPath)
	}
	cfg := wire.ProxyConfig{Version: wire.Version, AllowedDomains: []string{"a.example", "127.0.0.1:5432", "[::1]:80"}, DeniedDomains: []string{"b.example", "*:22"},
		DeniedDomainReasons: map[string]string{"b.example": "no"}, StrictAllowlist: true, DeniedResolvedAddresses: []string{"10.0.0.0/8"},
		Parent: wire.ParentProxy{HTTP: "http://p:1", HTTPS: "http://p:1", NoProxy: "x"},
		Mitm:   &wire.MitmProxy{SocketPath: "/proj/m[1].sock", Domains: []string{"a.example"}}, HTTPProxyPort: 1, SOCKSProxyPort: 2}
	if got := p.ProxyConfig(); !reflect.DeepEqual(got, cfg) {
		t.Errorf("proxy %+v, mitm %+v", got, got.Mitm)
	}
	if got := strings.Join(p.SafeDirectories(), " "); got != "/proj/r *" {
		t.Errorf("safe directories %s", got)
	}
	if got := p.IgnoreViolations(); !reflect.DeepEqual(got, map[string][]string{"*": {"x"}}) {
		t.Errorf("ignore %v", got)
	}
	if !p.UsesNetwork() {
		t.Error("no network")
	}
}

func TestAPolicyDoesNotChange(t *testing.T) {
	f := parse(t, `{"network": {"allowedDomains": ["a.example"], "deniedDomains": ["b.example"], "deniedDomainReasons": {"b.example": "r"}, "mitmProxy": {"socketPath": "/s", "domains": ["c.example"]}, "allowUnixSockets": ["/s"]}, "filesystem": {"denyRead": ["a"]}, "ignoreViolations": {"*": ["x"]}, "git": {"safeDirectories": ["/r"]}}`)
	p, err := Resolve(f, here)
	if err != nil {
		t.Fatal(err)
	}
	dump := func() string {
		b, err := json.Marshal([]any{p.LaunchRequest(wire.Command{}, LaunchOptions{}), p.ProxyConfig(), p.IgnoreViolations(), p.SafeDirectories(), p.Notes()})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := dump()
	f.Network.AllowedDomains[0], f.Network.DeniedDomainReasons["b.example"], f.Network.MitmProxy.Domains[0] = "x", "x", "x"
	f.Filesystem.DenyRead[0].Path, f.IgnoreViolations["*"][0], f.Git.SafeDirectories[0] = "x", "y", "x"
	r, c := p.LaunchRequest(wire.Command{}, LaunchOptions{}), p.ProxyConfig()
	r.Files.DenyRead[0].Path, r.Files.Protected[0].Name, r.Process.AllowUnixSockets[0].Path = "x", "x", "x"
	c.AllowedDomains[0], c.DeniedDomainReasons["b.example"], c.Mitm.Domains[0], c.Mitm.SocketPath = "x", "x", "x", "x"
	p.IgnoreViolations()["*"][0] = "z"
	if after := dump(); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

func TestProtectedNames(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		missing   string
		rules     bool
		gitConfig bool
	}{
		"default":          {`{}`, "", true, false},
		"allowGitConfig":   {`{"filesystem": {"allowGitConfig": true}}`, ".git/config", true, true},
		"the same by name": {`{"filesystem": {"allowProtected": [".git/config"]}}`, ".git/config", true, true},
		"hooks only":       {`{"filesystem": {"allowProtected": [".git/hooks/"]}}`, ".git/hooks", true, false},
		"hooks and config": {`{"filesystem": {"allowGitConfig": true, "allowProtected": [".git/hooks"]}}`, ".git/hooks .git/config", false, true},
		"several":          {`{"filesystem": {"allowProtected": [".vscode", ".bashrc", ".vscode"]}}`, ".bashrc .vscode", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := resolve(t, c.text, here).Files()
			left := map[string]bool{}
			for _, p := range f.Protected {
				left[p.Name] = true
			}
			var missing []string
			for _, p := range protected {
				if !left[p.Name] {
					missing = append(missing, p.Name)
				}
			}
			if got := strings.Join(missing, " "); got != c.missing || f.GitRules != c.rules || f.GitConfig != c.gitConfig {
				t.Errorf("missing %q, rules %v, config %v", got, f.GitRules, f.GitConfig)
			}
		})
	}
}

func TestTableOfProtectedNames(t *testing.T) {
	seen := map[string]wire.Protected{}
	for _, p := range ProtectedNames() {
		if p.Reason == "" || p.Name != strings.Trim(p.Name, "/") || seen[p.Name].Name != "" {
			t.Errorf("%+v", p)
		}
		seen[p.Name] = p
	}
	for _, name := range strings.Fields(`.gitconfig .gitmodules .bashrc .bash_profile .zshrc .zprofile .profile .ripgreprc .mcp.json .git/config .zshenv .zlogin
		.bash_login .bash_logout .envrc .claude/settings.json .claude/settings.local.json`) {
		if p, ok := seen[name]; !ok || p.Dir {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, name := range strings.Fields(".vscode .idea .claude/commands .claude/agents .claude/hooks .git/hooks") {
		if p, ok := seen[name]; !ok || !p.Dir {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestOwnFilesAreProtected(t *testing.T) {
	for name, c := range map[string]struct {
		settings, report string
		want             string
	}{
		"a report":           {"", "/proj/r", "/home/u/.srt-settings.json (srt: the settings file of the next run) /proj/r (srt: the report of this run)"},
		"defaults":           {"", "", "/home/u/.srt-settings.json (srt: the settings file of the next run)"},
		"the default file":   {"/home/u/.srt-settings.json", "", "/home/u/.srt-settings.json (srt: the settings file in force)"},
		"a file of the user": {"/proj/s.json", "", "/proj/s.json (srt: the settings file in force) /home/u/.srt-settings.json (srt: the settings file of the next run)"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Resolve(&settings.File{}, Context{GOOS: "linux", Home: "/home/u", Dir: "/proj", SettingsPath: c.settings, Report: c.report})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range p.Files().DenyWrite {
				got = append(got, e.Path+" ("+e.Rule+")")
			}
			if s := strings.Join(got, " "); s != c.want+" /home/u/.config/git/config (srt: git reads it as it does .gitconfig)" {
				t.Errorf("got %s", s)
			}
		})
	}
}

func TestTheSocketOfMitmProxyIsProtected(t *testing.T) {
	p := resolve(t, `{"network": {"mitmProxy": {"socketPath": "run/m.sock", "domains": ["a.example"]}}}`, here)
	want := wire.PathEntry{Path: "/proj/run/m.sock", Rule: "srt: the socket of mitmProxy, which leads outside"}
	if got := p.Files().DenyWrite; !slices.Contains(got, want) {
		t.Errorf("denyWrite %+v", got)
	}
}

func TestDisabledMeansNoFileLimits(t *testing.T) {
	p := resolve(t, `{"network": {"mitmProxy": {"socketPath": "m", "domains": ["a.example"]}}, "filesystem": {"disabled": true, "denyRead": ["x"]}}`, here)
	f := p.Files()
	if !f.Disabled || len(f.DenyRead)+len(f.DenyWrite)+len(f.Protected) != 0 || f.GitRules {
		t.Errorf("files %+v", f)
	}
	if got := strings.Join(p.Notes(), "|"); got != "filesystem.denyRead has no effect, because filesystem.disabled is on" {
		t.Errorf("notes %s", got)
	}
}

func TestNotes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing to say":            {`{"$schema": "x", "network": {"allowedDomains": ["localhost:80", "a.example"]}}`, ""},
		"keys of another system":    {`{"allowPty": true, "socatPath": "/x"}`, "allowPty has no effect here|socatPath has no effect here"},
		"a loopback without a port": {`{"network": {"allowedDomains": ["127.0.0.1"]}}`, `network.allowedDomains: "127.0.0.1" is reachable through the proxy only; with a port it is reachable under its own address too`},
		"a loopback on srt's port":  {`{"network": {"allowedDomains": ["a.localhost:3128", "127.0.0.2:3128", "[::1]:3128"]}}`, `network.allowedDomains: "a.localhost:3128" is reachable through the proxy only, because srt's own proxy has that address inside`},
		"a reason for nothing":      {`{"network": {"deniedDomainReasons": {"a.example": "x"}}}`, `network.deniedDomainReasons: "a.example" has no effect, because deniedDomains has no entry spelt so`},
		"sockets twice":             {`{"network": {"allowAllUnixSockets": true, "allowUnixSockets": ["/x"]}}`, "network.allowUnixSockets has no effect, because allowAllUnixSockets is on"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(resolve(t, c.text, here).Notes(), "|"); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestMoreLoopbackPortsThanOneMessageCarries(t *testing.T) {
	list := make([]string, 0, 200)
	for i := range 100 {
		list = append(list, fmt.Sprintf("%q, %q", fmt.Sprintf("127.0.0.1:%d", 1000+i), fmt.Sprintf("localhost:%d", 2000+i)))
	}
	p := resolve(t, `{"network": {"allowedDomains": [`+strings.Join(list, ", ")+`]}}`, here)
	n := p.network.Mirrors
	if len(n) != 168 || n[167] != "localhost:2083" { // 84 addresses and 84 names of two
		t.Errorf("%d mirrors: %q", len(n), n)
	}
	want := `network.allowedDomains: "127.0.0.1:1084", and every loopback address with a port that follows, is reachable through the proxy only: 252 addresses can be reached under their own`
	if got := strings.Join(p.Warnings(), "|"); got != want {
		t.Errorf("warnings %s", got)
	}
}

func TestParentProxy(t *testing.T) {
	const net = `{"network": {"allowedDomains": ["a.example"]}}`
	for name, c := range map[string]struct {
		text string
		env  []string
		want wire.ParentProxy
	}{
		"none":                                  {net, nil, wire.ParentProxy{}},
		"from the environment":                  {net, []string{"HTTP_PROXY=http://u:p@h:1/", "HTTPS_PROXY=https://s", "NO_PROXY=x"}, wire.ParentProxy{HTTP: "http://u:p@h:1", HTTPS: "https://s:443", NoProxy: "x"}},
		"small letters":                         {net, []string{"http_proxy=h:1", "no_proxy=y"}, wire.ParentProxy{HTTP: "http://h:1", HTTPS: "http://h:1", NoProxy: "y"}},
		"an empty variable is none":             {net, []string{"HTTP_PROXY=", "http_proxy=HTTP://h"}, wire.ParentProxy{HTTP: "http://h:80", HTTPS: "http://h:80"}},
		"settings before environment":           {`{"network": {"parentProxy": {"https": "http://s:2"}}}`, []string{"HTTP_PROXY=http://h:1"}, wire.ParentProxy{HTTPS: "http://s:2"}},
		"empty settings mean direct":            {`{"network": {"parentProxy": {}}}`, []string{"HTTP_PROXY=http://h:1", "NO_PROXY=x"}, wire.ParentProxy{}},
		"IPv6":                                  {net, []string{"HTTP_PROXY=http://[::1]:8"}, wire.ParentProxy{HTTP: "http://[::1]:8", HTTPS: "http://[::1]:8"}},
		"exceptions that nobody can apply":      {net, []string{"HTTP_PROXY=h:1", "no_proxy=localhost, .example.com *.x.example;<local>,10.*,10.0.0.0/8,[::1],fe80::1%eth0,b.example:8"}, wire.ParentProxy{HTTP: "http://h:1", HTTPS: "http://h:1", NoProxy: "localhost,.example.com,10.0.0.0/8,[::1],b.example:8"}},
		"a bad variable without any connection": {`{}`, []string{"HTTP_PROXY=socks5://h:1"}, wire.ParentProxy{}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := here
			ctx.Env = c.env
			if got := resolve(t, c.text, ctx).ProxyConfig().Parent; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestABadExceptionOfTheEnvironmentIsNoted(t *testing.T) {
	ctx := here
	ctx.Env = []string{"https_proxy=h:1", "no_proxy=<local>"}
	if got := strings.Join(resolve(t, `{}`, ctx).Notes(), "|"); got != `the environment variable no_proxy: "<local>" is no host, address or block, so it makes no exception` {
		t.Errorf("got %s", got)
	}
}

func TestAskingEndsWithAStrictList(t *testing.T) {
	ctx := here
	ctx.Ask = true
	if !resolve(t, `{}`, ctx).ProxyConfig().Ask || resolve(t, `{"network": {"strictAllowlist": true}}`, ctx).ProxyConfig().Ask || resolve(t, `{}`, here).ProxyConfig().Ask {
		t.Error("wrong answer")
	}
}

func TestAllowLine(t *testing.T) {
	p := resolve(t, `{"network": {"deniedDomains": ["b.example:22"]}, "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": ["/open"], "denyWrite": ["*.lock"]}}`, here)
	for name, c := range map[string]struct {
		v    wire.Violation
		want string
	}{
		"host on a usual port":        {wire.Violation{Operation: "network-outbound", Target: "example.com:443", Reason: "not on the allow list"}, `network.allowedDomains: "example.com"`},
		"host on another port":        {wire.Violation{Operation: "network-outbound", Target: "example.com:8443"}, `network.allowedDomains: "example.com:8443"`},
		"IPv6":                        {wire.Violation{Operation: "network-outbound", Target: "[2001:db8::1]:443"}, `network.allowedDomains: "[2001:db8::1]"`},
		"host on the deny list":       {wire.Violation{Operation: "network-outbound", Target: "b.example:22", Rule: "b.example:22"}, `network.deniedDomains: without "b.example:22"`},
		"address that is refused":     {wire.Violation{Operation: "network-outbound", Target: "c.example:443", Reason: "resolved to a loopback address"}, ""},
		"host that the user refused":  {wire.Violation{Operation: "network-outbound", Target: "c.example:443", Reason: "refused by the user"}, ""},
		"a host that is none":         {wire.Violation{Operation: "network-outbound", Target: "a b:443"}, ""},
		"write in the directory":      {wire.Violation{Operation: "file-write", Target: "/proj/sub/f"}, `filesystem.allowWrite: "./sub/f"`},
		"write of the directory":      {wire.Violation{Operation: "file-write", Target: "/proj"}, `filesystem.allowWrite: "."`},
		"write at home":               {wire.Violation{Operation: "file-write", Target: "/home/u/f"}, `filesystem.allowWrite: "~/f"`},
		"write elsewhere":             {wire.Violation{Operation: "file-write", Target: "/var/x"}, `filesystem.allowWrite: "/var/x"`},
		"write in the sandbox's own":  {wire.Violation{Operation: "file-write", Target: "/sys/fs/x"}, ""},
		"write below what is allowed": {wire.Violation{Operation: "file-write", Target: "/open/sub/x"}, ""},
		"write beside it":             {wire.Violation{Operation: "file-write", Target: "/opener"}, `filesystem.allowWrite: "/opener"`},
		"a name like a pattern":       {wire.Violation{Operation: "file-write", Target: "/var/x[1]"}, `filesystem.allowWrite: {"path": "/var/x[1]", "literal": true}`},
		"write on the deny list":      {wire.Violation{Operation: "file-write", Target: "/proj/a.lock", Rule: "*.lock"}, `filesystem.denyWrite: without "*.lock"`},
		"write of a protected name":   {wire.Violation{Operation: "file-write", Target: "/proj/.bashrc", Rule: ".bashrc: every interactive bash runs it"}, `filesystem.allowProtected: ".bashrc"`},
		"write of git's config":       {wire.Violation{Operation: "file-write", Target: "/proj/.git/config", Rule: ".git/config"}, `filesystem.allowGitConfig: true`},
		"write of the settings":       {wire.Violation{Operation: "file-write", Target: "/home/u/.srt-settings.json", Rule: "srt: the settings file in force"}, ""},
		"write by a rule of another":  {wire.Violation{Operation: "file-write", Target: "/x", Rule: "git rules"}, ""},
		"read":                        {wire.Violation{Operation: "file-read", Target: "/home/u/.ssh/id", Rule: "~/.ssh"}, `filesystem.allowRead: "~/.ssh/id"`},
		"read without a rule":         {wire.Violation{Operation: "file-read", Target: "/x"}, ""},
		"unix socket":                 {wire.Violation{Operation: "unix-socket", Target: "/run/docker.sock"}, `network.allowUnixSockets: "/run/docker.sock"`},
		"system call":                 {wire.Violation{Operation: "syscall", Target: "bpf"}, ""},
		"a target that would deceive": {wire.Violation{Operation: "file-write", Target: "/x\u202ey\n"}, ""},
		"no target":                   {wire.Violation{Operation: "file-write"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.AllowLine(c.v); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestChecksHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks {
		if c.name == "" || seen[c.name] {
			t.Errorf("%q", c.name)
		}
		seen[c.name] = true
	}
}
