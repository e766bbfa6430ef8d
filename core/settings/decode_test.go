package settings

import (
	"reflect"
	"strings"
	"testing"
)

func read(t *testing.T, text string) *File {
	t.Helper()
	f, err := ParseLine([]byte(text))
	if err != nil {
		t.Fatalf("ParseLine(%q): %v", text, err)
	}
	return f
}

func TestErrorsNamePlaceKeyAndRightForm(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty file":                     {"", `s.json: the settings are empty; write {} for the defaults`},
		"white space only":               {" \n\t", `s.json: the settings are empty; write {} for the defaults`},
		"UTF-16":                         {"\xff\xfe{\x00}\x00", `s.json: the settings are UTF-16; save the file as UTF-8`},
		"null":                           {"null", `s.json:1:1: null where an object belongs; write {} for the defaults`},
		"a list":                         {"[]", `s.json:1:1: a list where an object belongs; write {} for the defaults`},
		"broken off":                     {"{\"network\": {\n\n", `s.json:1:14: invalid JSON: the text ends too early; quote keys and texts with ", put commas between entries, close every bracket`},
		"open comment":                   {"{} /* ", `s.json:1:4: invalid JSON: the text ends too early; quote keys and texts with ", put commas between entries, close every bracket`},
		"single quotes":                  {"{\n  \"é\": 'x'}", `s.json:2:8: invalid JSON: invalid character '\'' at start of value; quote keys and texts with ", put commas between entries, close every bracket`},
		"missing comma":                  {`{"allowPty": true "git": {}}`, `s.json:1:19: invalid JSON: invalid character '"' after object value (expecting ',' or '}'); quote keys and texts with ", put commas between entries, close every bracket`},
		"two values":                     {"{} {}", `s.json:1:4: invalid JSON: invalid character '{' after top-level value; quote keys and texts with ", put commas between entries, close every bracket`},
		"bare word":                      {`{"allowPty": yes}`, `s.json:1:14: invalid JSON: invalid literal: yes; quote keys and texts with ", put commas between entries, close every bracket`},
		"unknown key, known to be near":  {`{"network": {"allowedDomain": []}}`, `s.json:1:14: network.allowedDomain: unknown key; did you mean "allowedDomains"?`},
		"key in another case":            {"{\"filesystem\": {\n  // none\n  \"denyread\": []}}", `s.json:3:3: filesystem.denyread: unknown key; did you mean "denyRead"?`},
		"swapped letters":                {`{"newtork": {}}`, `s.json:1:2: newtork: unknown key; did you mean "network"?`},
		"key of another section":         {`{"allowWrite": ["."]}`, `s.json:1:2: allowWrite: unknown key; did you mean filesystem.allowWrite?`},
		"key with its path":              {`{"network.allowedDomains": []}`, `s.json:1:2: ["network.allowedDomains"]: unknown key; write it nested: {"network": {"allowedDomains": …}}`},
		"unknown key":                    {`{"git": {"zzzzzzzz": 1}}`, `s.json:1:10: git.zzzzzzzz: unknown key; the keys of git are safeDirectories`},
		"unknown key at the top":         {`{"notAKey": 1}`, `s.json:1:2: notAKey: unknown key; the keys of the top level are network, filesystem, ignoreViolations, mandatoryDenySearchDepth, enableWeakerNestedSandbox, allowNestedUserNamespaces, enableWeakerNetworkIsolation, allowAppleEvents, allowPty, bwrapPath, git, windows`},
		"key twice":                      {`{"allowPty": true, "allowPty": false}`, `s.json:1:20: allowPty: this key stands here for the second time; merge the two`},
		"key twice, once escaped":        {`{"allowPty": true, "allow\u0050ty": false}`, `s.json:1:20: allowPty: this key stands here for the second time; merge the two`},
		"section twice":                  {`{"git": {}, "git": {}}`, `s.json:1:13: git: this key stands here for the second time; merge the two`},
		"reason twice":                   {`{"network": {"deniedDomainReasons": {"a.b": "x", "a.b": "y"}}}`, `s.json:1:50: network.deniedDomainReasons["a.b"]: this key stands here for the second time; merge the two`},
		"text for a list":                {`{"network": {"allowedDomains": "example.com"}}`, `s.json:1:32: network.allowedDomains: a text where a list of texts belongs; write ["example.com"]`},
		"text for a list of paths":       {`{"filesystem": {"denyRead": "~/.ssh"}}`, `s.json:1:29: filesystem.denyRead: a text where a list of paths belongs; write ["~/.ssh"]`},
		"object for a list of paths":     {`{"filesystem": {"denyRead": {}}}`, `s.json:1:29: filesystem.denyRead: an object where a list of paths belongs; write ["path", {"path": "path", "literal": true}]`},
		"text for a boolean":             {`{"network": {"allowAllUnixSockets": "yes"}}`, `s.json:1:37: network.allowAllUnixSockets: a text where true or false belongs; write true or false, without quotes`},
		"null for a list":                {`{"filesystem": {"denyRead": null}}`, `s.json:1:29: filesystem.denyRead: null where a list of paths belongs; leave the key out for the default, or write ["path", {"path": "path", "literal": true}]`},
		"number in a list":               {`{"network": {"deniedDomains": ["a.b", 7]}}`, `s.json:1:39: network.deniedDomains[1]: a number where a text belongs; write "…"`},
		"number for a path":              {`{"filesystem": {"allowWrite": [7]}}`, `s.json:1:32: filesystem.allowWrite[0]: a number where a path belongs; write "path" or {"path": "path", "literal": true}`},
		"number for an object":           {`{"network": {"deniedDomainReasons": 5}}`, `s.json:1:37: network.deniedDomainReasons: a number where an object of texts belongs; write {"…": "…"}`},
		"number for a reason":            {`{"network": {"deniedDomainReasons": {"a.b:22": 1}}}`, `s.json:1:48: network.deniedDomainReasons["a.b:22"]: a number where a text belongs; write "…"`},
		"text for lists by pattern":      {`{"ignoreViolations": {"*": "x"}}`, `s.json:1:28: ignoreViolations["*"]: a text where a list of texts belongs; write ["x"]`},
		"list for an object of lists":    {`{"ignoreViolations": []}`, `s.json:1:22: ignoreViolations: a list where an object of lists belongs; write {"…": ["…"]}`},
		"list for a section":             {`{"network": []}`, `s.json:1:13: network: a list where an object belongs; write {…}`},
		"number for a text":              {`{"bwrapPath": 1}`, `s.json:1:15: bwrapPath: a number where a text belongs; write "…"`},
		"path object with another key":   {`{"filesystem": {"allowWrite": [{"path": "/x", "literal": true, "mode": 1}]}}`, `s.json:1:64: filesystem.allowWrite[0]: unknown key "mode"; write "path" or {"path": "path", "literal": true}`},
		"path object with a key twice":   {`{"filesystem": {"allowWrite": [{"path": "/x", "path": "/y", "literal": true}]}}`, `s.json:1:47: filesystem.allowWrite[0]: the key "path" stands here for the second time; merge the two`},
		"path object without the mark":   {`{"filesystem": {"allowWrite": [{"path": "/x"}]}}`, `s.json:1:32: filesystem.allowWrite[0]: an object that is not a path entry; write "path" or {"path": "path", "literal": true}`},
		"literal false":                  {`{"filesystem": {"allowWrite": [{"path": "/x", "literal": false}]}}`, `s.json:1:47: filesystem.allowWrite[0]: literal can only be true; write the path as a plain text when it is a pattern`},
		"depth 0":                        {`{"mandatoryDenySearchDepth": 0}`, `s.json:1:30: mandatoryDenySearchDepth: 0 is out of range; write a whole number from 1 to 10`},
		"depth 11":                       {`{"mandatoryDenySearchDepth": 11}`, `s.json:1:30: mandatoryDenySearchDepth: 11 is out of range; write a whole number from 1 to 10`},
		"depth 2.5":                      {`{"mandatoryDenySearchDepth": 2.5}`, `s.json:1:30: mandatoryDenySearchDepth: 2.5 is out of range; write a whole number from 1 to 10`},
		"depth as text":                  {`{"mandatoryDenySearchDepth": "3"}`, `s.json:1:30: mandatoryDenySearchDepth: a text where a whole number belongs; write a whole number from 1 to 10`},
		"port 70000":                     {`{"network": {"httpProxyPort": 70000}}`, `s.json:1:31: network.httpProxyPort: 70000 is out of range; write a whole number from 1 to 65535`},
		"a number of a million digits":   {`{"network": {"httpProxyPort": 1` + strings.Repeat("0", 1e6) + `}}`, `s.json:1:31: network.httpProxyPort: 1` + strings.Repeat("0", 79) + `… is out of range; write a whole number from 1 to 65535`},
		"a key that is too long to show": {`{"` + strings.Repeat("k", 500) + `": 1}`, `s.json:1:2: ["` + strings.Repeat("k", 80) + `"…]: unknown key; the keys of the top level are network, filesystem, ignoreViolations, mandatoryDenySearchDepth, enableWeakerNestedSandbox, allowNestedUserNamespaces, enableWeakerNetworkIsolation, allowAppleEvents, allowPty, bwrapPath, git, windows`},
		"a key with a line end in it":    {`{"git": {"a\nb": 1}}`, `s.json:1:10: git["a\nb"]: unknown key; the keys of git are safeDirectories`},
		"half a surrogate pair":          {`{"filesystem": {"denyRead": ["\ud800/x"]}}`, `s.json:1:30: filesystem.denyRead[0]: the text is not Unicode; save the file as UTF-8 and write no half of a surrogate pair`},
		"Latin-1":                        {"{\"filesystem\": {\"denyRead\": [\"caf\xe9\"]}}", `s.json:1:30: filesystem.denyRead[0]: the text is not Unicode; save the file as UTF-8 and write no half of a surrogate pair`},
		"unknown backend":                {`{"windows": {"backend": "wsl"}}`, `s.json:1:25: windows.backend: "wsl" is none of the values; write "srt-win"`},
		"backend of another version":     {`{"windows": {"backend": "mxc"}}`, `s.json:1:25: windows.backend: "mxc" is not in this version of srt; remove the key`},
		"three ports":                    {`{"windows": {"proxyPortRange": [1, 2, 3]}}`, `s.json:1:32: windows.proxyPortRange: a list where a pair of ports belongs; write [first, last], at most 64 apart`},
		"ports the wrong way round":      {`{"windows": {"proxyPortRange": [9, 8]}}`, `s.json:1:32: windows.proxyPortRange: the range is empty or wider than 64 ports; write [first, last], at most 64 apart`},
		"ambiguousRequestTarget":         {`{"network": {"ambiguousRequestTarget": "allow"}}`, `s.json:1:40: network.ambiguousRequestTarget: "allow" is none of the values; write "refuse" or "asSpelled" or "normalize"`},
		"TLS termination":                {`{"network": {"tlsTerminate": {}}}`, `s.json:1:14: network.tlsTerminate: asks for TLS termination, which this version of srt does not have; remove the key to run without it`},
		"response headers":               {`{"network": {"stripResponseHeaders": ["set-cookie"]}}`, `s.json:1:14: network.stripResponseHeaders: asks for response header filtering, which this version of srt does not have; remove the key to run without it`},
		"opaque tunnels":                 {`{"network": {"refuseOpaqueTunnels": true}}`, `s.json:1:14: network.refuseOpaqueTunnels: asks for refusal of tunnels that cannot be looked into, which this version of srt does not have; remove the key to run without it`},
		"host match":                     {`{"network": {"requireHostMatch": true}}`, `s.json:1:14: network.requireHostMatch: asks for comparison of Host header and destination, which this version of srt does not have; remove the key to run without it`},
		"filter rules":                   {`{"network": {"filterRequest": []}}`, `s.json:1:14: network.filterRequest: asks for rules for single requests, which this version of srt does not have; remove the key to run without it`},
		"masked files":                   {`{"credentials": {"files": [{"path": "~/.netrc", "mode": "mask"}]}}`, `s.json:1:18: credentials.files: asks for masking of credential files, which this version of srt does not have; remove the key to run without it`},
		"masked variables":               {`{"credentials": {"envVars": [{"name": "T", "mode": "deny"}]}}`, `s.json:1:18: credentials.envVars: asks for masking of environment variables, which this version of srt does not have; remove the key to run without it`},
		"unknown key of credentials":     {`{"credentials": {"file": []}}`, `s.json:1:18: credentials.file: unknown key; did you mean "files"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("s.json", []byte(c.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if got := err.Error(); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Error("more than one line")
			}
		})
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	f := read(t, `// a settings file may have comments
{
	"$schema": "https://example.com/schema.json",
	"network": {
		"allowedDomains": ["example.com", "*.example.org:443",], /* and trailing commas */
		"deniedDomains": ["bad.example.com"],
		"deniedDomainReasons": {"bad.example.com": "use \"good\" – not bad"},
		"strictAllowlist": true,
		"deniedResolvedAddresses": ["10.0.0.0/8"],
		"allowUnixSockets": ["/run/x.sock"],
		"allowAllUnixSockets": true,
		"allowLocalBinding": true,
		"allowMachLookup": ["com.example.*"],
		"httpProxyPort": 3128,
		"socksProxyPort": 1080,
		"mitmProxy": {"socketPath": "/run/mitm.sock", "domains": ["a.example.com"]},
		"parentProxy": {"http": "http://p:1", "https": "http://p:2", "noProxy": ".local"},
		"stripResponseHeaders": [],
		"refuseOpaqueTunnels": false,
		"requireHostMatch": false,
		"allowPlaintextHeaderSet": true,
		"ambiguousRequestTarget": "refuse",
	},
	"filesystem": {
		"denyRead": ["~/.ssh", {"path": "a*", "literal": true}],
		"allowRead": ["."],
		"allowWrite": [],
		"denyWrite": ["x"],
		"allowGitConfig": true,
		"allowProtected": [".bashrc"],
		"disabled": true,
	},
	"ignoreViolations": {"*": ["/tmp"], "npm": ["a", "b"]},
	"mandatoryDenySearchDepth": 5,
	"enableWeakerNestedSandbox": true,
	"allowNestedUserNamespaces": true,
	"enableWeakerNetworkIsolation": true,
	"allowAppleEvents": true,
	"allowPty": true,
	"bwrapPath": "/usr/bin/bwrap",
	"git": {"safeDirectories": ["/srv/repo"]},
	"windows": {"backend": "srt-win", "sandboxUser": "u", "sublayerGuid": "g", "wfpSublayerGuid": "h", "proxyPortRange": [60000, 60020], "srtWin": {"path": "C:\\x.exe"}},
	"credentials": {"files": [], "envVars": [], "awsPairs": [], "sigv4": {}, "allowPlaintextInject": false},
	"seccomp": {"applyPath": "/x", "argv0": "y"},
	"ripgrep": {"command": "rg", "args": ["-a"], "argv0": "rg"},
	"socatPath": "/usr/bin/socat",
	"javaAgentJarPath": "/x.jar",
}
// the last line is a comment without a line end`)
	named := map[string]bool{}
	for _, i := range f.present {
		named[keys[i].Path] = true
	}
	for _, k := range Keys() {
		if k.Use != Never && !named[k.Path] {
			t.Errorf("the text above does not name %s", k.Path)
		}
	}
	f.text, f.present, f.unused = nil, nil, unused{}
	want := &File{
		Network: Network{
			AllowedDomains:          []string{"example.com", "*.example.org:443"},
			DeniedDomains:           []string{"bad.example.com"},
			DeniedDomainReasons:     map[string]string{"bad.example.com": `use "good" – not bad`},
			StrictAllowlist:         true,
			DeniedResolvedAddresses: []string{"10.0.0.0/8"},
			AllowUnixSockets:        []string{"/run/x.sock"},
			AllowAllUnixSockets:     true,
			AllowLocalBinding:       true,
			AllowMachLookup:         []string{"com.example.*"},
			HTTPProxyPort:           3128,
			SOCKSProxyPort:          1080,
			MitmProxy:               &MitmProxy{SocketPath: "/run/mitm.sock", Domains: []string{"a.example.com"}},
			ParentProxy:             &ParentProxy{HTTP: "http://p:1", HTTPS: "http://p:2", NoProxy: ".local"},
		},
		Filesystem: Filesystem{
			DenyRead:       []PathEntry{{Path: "~/.ssh"}, {Path: "a*", Literal: true}},
			AllowRead:      []PathEntry{{Path: "."}},
			AllowWrite:     []PathEntry{},
			DenyWrite:      []PathEntry{{Path: "x"}},
			AllowGitConfig: true,
			AllowProtected: []string{".bashrc"},
			Disabled:       true,
		},
		Git:                          Git{SafeDirectories: []string{"/srv/repo"}},
		Windows:                      Windows{Backend: "srt-win", SandboxUser: "u", SublayerGUID: "g", WFPSublayerGUID: "h", ProxyPortRange: []int{60000, 60020}},
		IgnoreViolations:             map[string][]string{"*": {"/tmp"}, "npm": {"a", "b"}},
		MandatoryDenySearchDepth:     5,
		EnableWeakerNestedSandbox:    true,
		AllowNestedUserNamespaces:    true,
		EnableWeakerNetworkIsolation: true,
		AllowAppleEvents:             true,
		AllowPty:                     true,
		BwrapPath:                    "/usr/bin/bwrap",
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("\n got %+v\nwant %+v", f, want)
	}
}

func TestAbsentIsNotEmpty(t *testing.T) {
	f := read(t, `{"filesystem": {"allowWrite": []}}`)
	if f.Network.ParentProxy != nil || f.Network.MitmProxy != nil {
		t.Error("an absent object is there")
	}
	if f = read(t, `{"network": {"parentProxy": {}}}`); f.Network.ParentProxy == nil {
		t.Error("an empty object is absent")
	}
}

func TestTextsAreKeptExactly(t *testing.T) {
	for _, s := range []string{"ä ö", "\ufffd", "a\tb\\\"/", "\U0001f600", "\u2028"} {
		for _, quoted := range []string{jsonASCII(s), jsonRaw(s)} {
			f := read(t, `{"bwrapPath": `+quoted+`}`)
			if f.BwrapPath != s {
				t.Errorf("%s was read as %q", quoted, f.BwrapPath)
			}
		}
	}
}

func TestByteOrderMarkIsAccepted(t *testing.T) {
	if f := read(t, "\ufeff{\"allowPty\": true}"); !f.AllowPty {
		t.Error("the text behind the mark was not read")
	}
}

func TestInertNamesWhatHasNoEffect(t *testing.T) {
	f := read(t, `{"socatPath": "/x", "allowPty": true, "bwrapPath": "/b", "network": {"allowLocalBinding": true, "allowedDomains": []}}`)
	for goos, want := range map[string]string{
		"linux":   "socatPath allowPty network.allowLocalBinding",
		"darwin":  "socatPath bwrapPath",
		"windows": "socatPath allowPty bwrapPath",
	} {
		if got := strings.Join(f.Inert(goos), " "); got != want {
			t.Errorf("%s: got %q, want %q", goos, got, want)
		}
	}
}
