package policy

import (
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/settings"
)

var here = Context{GOOS: "linux", Home: "/home/u", Dir: "/proj", SrtBinaries: []string{"/usr/bin/srt"}}

func resolve(t *testing.T, text string, c Context) *Policy {
	t.Helper()
	p, err := Resolve(parse(t, text), c)
	if err != nil {
		t.Fatalf("Resolve(%s): %v", text, err)
	}
	return p
}

func parse(t *testing.T, text string) *settings.File {
	t.Helper()
	f, err := settings.ParseLine([]byte(text))
	if err != nil {
		t.Fatalf("ParseLine(%s): %v", text, err)
	}
	return f
}

func TestErrorsNameTheEntryAndTheRightForm(t *testing.T) {
	const (
		forms   = `; write a host, "*.host", an IPv4 address or an IPv6 address in brackets, each with an optional :port`
		literal = `; or write {"path": …, "literal": true} for a path of exactly this name`
		exactly = `, or write {"path": …, "literal": true} for a file of exactly this name`
	)
	windows := Context{GOOS: "windows", Home: `C:\Users\u`, Dir: `C:\work`}
	proxied := here
	proxied.Env = []string{"HTTP_PROXY=socks5h://u:SECRET@127.0.0.1:1080"}
	for name, c := range map[string]struct {
		text string
		ctx  Context
		want string
	}{
		"a URL is no domain":           {`{"network": {"allowedDomains": ["https://example.com"]}}`, here, `network.allowedDomains[0]: "https://example.com": a scheme is not part of an entry; write "example.com"`},
		"everything allowed":           {`{"network": {"allowedDomains": ["a.example", "*"]}}`, here, `network.allowedDomains[1]: "*": "*" would allow every host; it is for deniedDomains only` + forms},
		"every host on a port":         {`{"network": {"allowedDomains": ["*:22"]}}`, here, `network.allowedDomains[0]: "*:22": "*" would allow every host; it is for deniedDomains only` + forms},
		"a star inside a name":         {`{"network": {"allowedDomains": ["api.*.example.com"]}}`, here, `network.allowedDomains[0]: "api.*.example.com": a star may only stand for the first labels, as in "*.example.com"; write "*.example.com"`},
		"IPv6 without brackets":        {`{"network": {"allowedDomains": ["::1"]}}`, here, `network.allowedDomains[0]: "::1": an IPv6 address needs brackets: without them its end and a port look the same; write "[::1]"`},
		"a denied path":                {`{"network": {"deniedDomains": ["a.example/x"]}}`, here, `network.deniedDomains[0]: "a.example/x": a path is not part of an entry; write "a.example"`},
		"a reason for no domain":       {`{"network": {"deniedDomainReasons": {"a b": "x"}}}`, here, `network.deniedDomainReasons["a b"]: "a b": white space does not belong in an entry` + forms},
		"no address":                   {`{"network": {"deniedResolvedAddresses": ["10.0.0.0/8", "10.0.0"]}}`, here, `network.deniedResolvedAddresses[1]: "10.0.0" is no IP address and no CIDR block; write it like "10.0.0.0/8", "192.168.1.10" or "fc00::/7"`},
		"an address with a zone":       {`{"network": {"deniedResolvedAddresses": ["fe80::1%eth0"]}}`, here, `network.deniedResolvedAddresses[0]: "fe80::1%eth0" is no IP address and no CIDR block; write it like "10.0.0.0/8", "192.168.1.10" or "fc00::/7"`},
		"half a mitm proxy":            {`{"network": {"mitmProxy": {"domains": ["a.example"]}}}`, here, `network.mitmProxy: socketPath or domains is missing; write {"socketPath": "/path/of/socket", "domains": ["example.com"]}`},
		"a bad mitm domain":            {`{"network": {"mitmProxy": {"socketPath": "/s", "domains": ["*"]}}}`, here, `network.mitmProxy.domains[0]: "*": "*" would allow every host; it is for deniedDomains only` + forms},
		"a socks parent":               {`{"network": {"parentProxy": {"http": "socks5://u:SECRET@p:1"}}}`, here, `network.parentProxy.http: the URL is not an http:// or https:// proxy; write it like "http://proxy.example.com:3128"`},
		"a parent without a host":      {`{"network": {"parentProxy": {"https": "http://u:SECRET@:1"}}}`, here, `network.parentProxy.https: the URL has no valid host and port; write it like "http://proxy.example.com:3128"`},
		"a parent with a path":         {`{"network": {"parentProxy": {"https": "http://p/x"}}}`, here, `network.parentProxy.https: the URL has no valid host and port; write it like "http://proxy.example.com:3128"`},
		"a password to be escaped":     {`{"network": {"parentProxy": {"http": "http://u:SE#CRET@p:1"}}}`, here, `network.parentProxy.http: the URL has a user or password with characters that must be percent-encoded; write it like "http://proxy.example.com:3128"`},
		"a percent sign in a password": {`{"network": {"parentProxy": {"http": "http://u:SECRET%zz@p:1"}}}`, here, `network.parentProxy.http: the URL has a user or password with characters that must be percent-encoded; write it like "http://proxy.example.com:3128"`},
		"an exception that is none":    {`{"network": {"parentProxy": {"noProxy": "a.example,http://b"}}}`, here, `network.parentProxy.noProxy: "http://b" is no host, address or block; write them separated by commas: "localhost,.example.com,10.0.0.0/8"`},
		"a socks proxy variable":       {`{"network": {"allowedDomains": ["a.example"]}}`, proxied, `network.parentProxy: the environment variable HTTP_PROXY is not an http:// or https:// proxy; unset it, or write "parentProxy" with the proxy to use ({} for none)`},
		"two stars in a service":       {`{"network": {"allowMachLookup": ["a.*.b*"]}}`, here, `network.allowMachLookup[0]: "a.*.b*" is not a service name; write a name, with at most one "*" at its end`},
		"an empty socket":              {`{"network": {"allowUnixSockets": [""]}}`, here, `network.allowUnixSockets[0]: "" is empty; write "." for the working directory`},
		"a relative bubblewrap":        {`{"bwrapPath": "bin/bwrap"}`, here, `bwrapPath: "bin/bwrap" is not an absolute path; write where bubblewrap lies, such as "/usr/local/bin/bwrap"`},
		"an unknown protected name":    {`{"filesystem": {"allowProtected": [".bashcr"]}}`, here, `filesystem.allowProtected[0]: ".bashcr" is not the name of a mandatory deny; did you mean ".bashrc"?`},
		"no name of an account":        {`{"windows": {"sandboxUser": "a\\b"}}`, windows, `windows.sandboxUser: "a\\b" cannot be the name of a local account; write at most 20 characters, as given to srt-windows install --sandbox-user`},
		"a long name of an account":    {`{"windows": {"sandboxUser": "abcdefghijklmnopqrstu"}}`, windows, `windows.sandboxUser: "abcdefghijklmnopqrstu" cannot be the name of a local account; write at most 20 characters, as given to srt-windows install --sandbox-user`},
		"a name that Windows trims":    {`{"windows": {"sandboxUser": "a."}}`, windows, `windows.sandboxUser: "a." cannot be the name of a local account; write at most 20 characters, as given to srt-windows install --sandbox-user`},
		"no GUID":                      {`{"windows": {"sublayerGuid": "{6c3ce732-08c8-4a59-873c-0b14920faa77}"}}`, windows, `windows.sublayerGuid: "{6c3ce732-08c8-4a59-873c-0b14920faa77}" is no GUID; write it like "6c3ce732-08c8-4a59-873c-0b14920faa77", as given to srt-windows install --sublayer-guid`},
		"no GUID under the old name":   {`{"windows": {"wfpSublayerGuid": "6c3ce732-08c8-4a59-873c-0b14920faa7g"}}`, windows, `windows.wfpSublayerGuid: "6c3ce732-08c8-4a59-873c-0b14920faa7g" is no GUID; write it like "6c3ce732-08c8-4a59-873c-0b14920faa77", as given to srt-windows install --sublayer-guid`},
		"two sublayers":                {`{"windows": {"wfpSublayerGuid": "6c3ce732-08c8-4a59-873c-0b14920faa77", "sublayerGuid": "7c3ce732-08c8-4a59-873c-0b14920faa77"}}`, windows, `windows.wfpSublayerGuid: sublayerGuid and wfpSublayerGuid, its old name, differ; remove wfpSublayerGuid`},
		"ports of services":            {`{"windows": {"proxyPortRange": [8080, 8089]}}`, windows, `windows.proxyPortRange: [8080, 8089] is no range for the proxies; write [LOW, HIGH] with at most 64 ports from 49152 to 65535, as given to srt-windows install --proxy-port-range`},
		"65 ports":                     {`{"windows": {"proxyPortRange": [60000, 60064]}}`, windows, `windows.proxyPortRange: [60000, 60064] is no range for the proxies; write [LOW, HIGH] with at most 64 ports from 49152 to 65535, as given to srt-windows install --proxy-port-range`},

		"empty":                      {`{"filesystem": {"denyRead": [""]}}`, here, `filesystem.denyRead[0]: "" is empty; write "." for the working directory`},
		"NUL":                        {`{"filesystem": {"denyRead": ["a\u0000b"]}}`, here, `filesystem.denyRead[0]: "a\x00b" holds a NUL character, which no path can; remove it`},
		"NUL in a literal":           {`{"filesystem": {"allowWrite": [{"path": "a\u0000b", "literal": true}]}}`, here, `filesystem.allowWrite[0]: "a\x00b" holds a NUL character, which no path can; remove it`},
		"too long":                   {`{"filesystem": {"allowWrite": ["/` + strings.Repeat("a", 4095) + `"]}}`, here, `filesystem.allowWrite[0]: "/` + strings.Repeat("a", 119) + `"… is longer than a path can be (4095 bytes); name a directory above it`},
		"too long once it is whole":  {`{"filesystem": {"allowWrite": ["` + strings.Repeat("a", 4090) + `"]}}`, here, `filesystem.allowWrite[0]: "` + strings.Repeat("a", 120) + `"… is longer than a path can be (4095 bytes); name a directory above it`},
		"deny pattern and slash":     {`{"filesystem": {"denyRead": ["/data/*/"]}}`, here, `filesystem.denyRead[0]: "/data/*/" is a pattern that ends in a slash; write "/data/*"`},
		"relative one":               {`{"filesystem": {"denyWrite": ["**/secrets*/"]}}`, here, `filesystem.denyWrite[0]: "**/secrets*/" is a pattern that ends in a slash; write "**/secrets*"`},
		"open bracket":               {`{"filesystem": {"denyRead": ["a[b"]}}`, here, `filesystem.denyRead[0]: "a[b": "[" without "]": write "\[" for a bracket` + literal},
		"bracket over a slash":       {`{"filesystem": {"denyRead": ["a[b/c]"]}}`, here, `filesystem.denyRead[0]: "a[b/c]": "[" without "]": write "\[" for a bracket` + literal},
		"backslash at the end":       {`{"filesystem": {"denyRead": ["*\\"]}}`, here, `filesystem.denyRead[0]: "*\\": "\" at the end of a component: write "\\" for a backslash` + literal},
		"an unknown class":           {`{"filesystem": {"denyRead": ["[[:\nx:]]"]}}`, here, `filesystem.denyRead[0]: "[[:\nx:]]": an unknown character class "[:\nx:]"` + literal},
		"dots behind a pattern":      {`{"filesystem": {"denyRead": ["a*/../b"]}}`, here, `filesystem.denyRead[0]: "a*/../b" has ".." behind a pattern; write the pattern without ".."`},
		"a variable":                 {`{"filesystem": {"denyRead": ["$HOME/.ssh"]}}`, here, `filesystem.denyRead[0]: "$HOME/.ssh" starts with a variable, and variables are not expanded; write "~/…" or the whole path, or {"path": …, "literal": true} for a file of that name`},
		"a variable in braces":       {`{"filesystem": {"allowWrite": ["${PWD}"]}}`, here, `filesystem.allowWrite[0]: "${PWD}" starts with a variable, and variables are not expanded; write "~/…" or the whole path, or {"path": …, "literal": true} for a file of that name`},
		"a variable of Windows":      {`{"filesystem": {"denyRead": ["%USERPROFILE%\\.ssh"]}}`, windows, `filesystem.denyRead[0]: "%USERPROFILE%\\.ssh" starts with a variable, and variables are not expanded; write "~/…" or the whole path, or {"path": …, "literal": true} for a file of that name`},
		"a variable further on":      {`{"filesystem": {"allowWrite": ["/tmp/$USER/x"]}}`, here, `filesystem.allowWrite[0]: "/tmp/$USER/x" has a variable in it, and variables are not expanded; write the whole path` + exactly},
		"one that is a component":    {`{"filesystem": {"denyRead": ["~/${APP}"]}}`, here, `filesystem.denyRead[0]: "~/${APP}" has a variable in it, and variables are not expanded; write the whole path` + exactly},
		"alternatives":               {`{"filesystem": {"denyRead": ["**/*.{env,pem}"]}}`, here, `filesystem.denyRead[0]: "**/*.{env,pem}" has alternatives in it, which are not read; write an entry for each of them` + exactly},
		"alternatives of a shell":    {`{"filesystem": {"denyWrite": ["src/+(a|b)"]}}`, here, `filesystem.denyWrite[0]: "src/+(a|b)" has alternatives in it, which are not read; write an entry for each of them` + exactly},
		"taking an entry back":       {`{"filesystem": {"allowWrite": ["src", "!src/secret"]}}`, here, `filesystem.allowWrite[1]: "!src/secret" begins with "!", and no entry takes another one back; leave it out, or name the path in the list that denies it or opens it again` + exactly},
		"a space at the end":         {`{"filesystem": {"denyRead": ["~/.ssh "]}}`, here, `filesystem.denyRead[0]: "~/.ssh " begins or ends with white space; remove it` + exactly},
		"another user's home":        {`{"filesystem": {"denyRead": ["~root/.ssh"]}}`, here, `filesystem.denyRead[0]: "~root/.ssh" names another user's home, which is not looked up; write the whole path, or "./~root/.ssh" for a file of that name`},
		"a file URL":                 {`{"filesystem": {"denyRead": ["file:///etc"]}}`, here, `filesystem.denyRead[0]: "file:///etc" is a URL; write the path behind file://`},
		"a share":                    {`{"filesystem": {"denyRead": ["\\\\server\\share"]}}`, windows, `filesystem.denyRead[0]: "\\\\server\\share" is a network path, or depends on the current drive or its directory; write a path with its drive, such as "C:/data"`},
		"a path without its drive":   {`{"filesystem": {"denyRead": ["\\x"]}}`, windows, `filesystem.denyRead[0]: "\\x" is a network path, or depends on the current drive or its directory; write a path with its drive, such as "C:/data"`},
		"the directory of a drive":   {`{"filesystem": {"denyRead": ["D:x"]}}`, windows, `filesystem.denyRead[0]: "D:x" is a network path, or depends on the current drive or its directory; write a path with its drive, such as "C:/data"`},
		"an error although disabled": {`{"filesystem": {"disabled": true, "denyRead": [""]}}`, here, `filesystem.denyRead[0]: "" is empty; write "." for the working directory`},
		"a home that is not known":   {`{}`, Context{GOOS: "linux", Dir: "/w"}, `resolve the policy: the home directory "" is not an absolute path`},
		"a relative directory":       {`{}`, Context{GOOS: "linux", Home: "/h", Dir: "w"}, `resolve the policy: the working directory "w" is not an absolute path`},
		"a relative binary":          {`{}`, Context{GOOS: "linux", Home: "/h", Dir: "/w", SrtBinaries: []string{"srt"}}, `resolve the policy: one of its own binaries: "srt" is not an absolute path`},
		"a relative settings file":   {`{}`, Context{GOOS: "linux", Home: "/h", Dir: "/w", SettingsPath: "s"}, `resolve the policy: the settings file in force: "s" is not an absolute path`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Resolve(parse(t, c.text), c.ctx)
			if err == nil {
				t.Fatal("accepted")
			}
			got := err.Error()
			if e, ok := err.(*settings.Error); ok {
				got = strings.TrimPrefix(got, e.Where()+": ")
			}
			if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if strings.Contains(got, "SECRET") {
				t.Error("a password in the message")
			}
		})
	}
}

func TestErrorsOfAFileBuiltInCode(t *testing.T) {
	for want, f := range map[string]*settings.File{
		`mandatoryDenySearchDepth: the depth is out of range; write a whole number from 1 to 10`: {MandatoryDenySearchDepth: 11},
		`network.httpProxyPort: 70000 is not a port; write a whole number from 1 to 65535`:       {Network: settings.Network{HTTPProxyPort: 70000}},
		`network.socksProxyPort: -1 is not a port; write a whole number from 1 to 65535`:         {Network: settings.Network{SOCKSProxyPort: -1}},
		`filesystem.allowWrite[0]: "" is empty; write "." for the working directory`:             {Filesystem: settings.Filesystem{AllowWrite: []settings.PathEntry{{}}}},
	} {
		if _, err := Resolve(f, here); err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
}
