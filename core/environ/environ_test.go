package environ

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var linux = Spec{GOOS: "linux", ProxyAddr: "127.0.0.1:3128", TmpDir: "/dev/srt/tmp", Relay: []string{"/dev/srt/connect"}}

func with(s Spec, caller ...string) Spec {
	s.Caller = caller
	return s
}

func TestLinuxEnvironment(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
SANDBOX_RUNTIME=1
HTTP_PROXY=http://127.0.0.1:3128
http_proxy=http://127.0.0.1:3128
HTTPS_PROXY=http://127.0.0.1:3128
https_proxy=http://127.0.0.1:3128
ALL_PROXY=http://127.0.0.1:3128
all_proxy=http://127.0.0.1:3128
FTP_PROXY=socks5h://127.0.0.1:3128
ftp_proxy=socks5h://127.0.0.1:3128
GRPC_PROXY=http://127.0.0.1:3128
grpc_proxy=http://127.0.0.1:3128
RSYNC_PROXY=127.0.0.1:3128
rsync_proxy=127.0.0.1:3128
DOCKER_HTTP_PROXY=http://127.0.0.1:3128
docker_http_proxy=http://127.0.0.1:3128
DOCKER_HTTPS_PROXY=http://127.0.0.1:3128
docker_https_proxy=http://127.0.0.1:3128
CLOUDSDK_PROXY_TYPE=http
CLOUDSDK_PROXY_ADDRESS=127.0.0.1
CLOUDSDK_PROXY_PORT=3128
NO_PROXY=localhost,127.0.0.1,::1
no_proxy=localhost,127.0.0.1,::1
NODE_USE_ENV_PROXY=1
JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 -Djava.io.tmpdir=/dev/srt/tmp
GIT_SSH_COMMAND=ssh -o ControlMaster=no -o ControlPath=none -o 'ProxyCommand=/dev/srt/connect %h %p'
GIT_PROXY_COMMAND=/dev/srt/connect
TMPDIR=/dev/srt/tmp
TMPPREFIX=/dev/srt/tmp/zsh
TMUX_TMPDIR=/dev/srt/tmp
`), "\n")
	if got := Build(linux); !slices.Equal(got, want) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

func TestCallersEntriesAreKeptByteForByte(t *testing.T) {
	caller := []string{
		"PATH=/bin:/usr/bin", "FOO=b a'r\n\xff", "EMPTY=", "NOEQUALS", "=odd", "=C:=C:\\x", "", "A=1", "A=2", "BASH_FUNC_f%%=() {  :; }",
		"GOPROXY=https://proxy.example", "GONOPROXY=x", "GIT_SSH=/bin/myssh", "LD_PRELOAD=x", "MY_HTTP_PROXY=x", "TMPDIRS=x", "_=/usr/bin/srt",
	}
	got := Build(with(linux, caller...))
	if !slices.Equal(got[:len(caller)], caller) {
		t.Errorf("got %q", got[:len(caller)])
	}
}

func TestCallersProxiesAndTheirSecretsAreGone(t *testing.T) {
	var caller []string
	for _, v := range Table() {
		if v.BothCases {
			caller = append(caller, v.Name+"=http://u:SECRET@p", strings.ToLower(v.Name)+"=SECRET", v.Name[:1]+strings.ToLower(v.Name[1:])+"=SECRET")
		}
	}
	for _, d := range dropped {
		caller = append(caller, d.name+"=SECRET", strings.ToUpper(d.name)+"=SECRET")
	}
	got := Build(with(linux, caller...))
	for _, e := range got {
		if strings.Contains(e, "SECRET") {
			t.Errorf("kept %s", e)
		}
	}
	seen := map[string]bool{}
	for _, e := range got {
		name, _, _ := strings.Cut(e, "=")
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
}

func TestSingleVariables(t *testing.T) {
	mac := Spec{GOOS: "darwin", ProxyAddr: "127.0.0.1:50001", TmpDir: "/private/var/x y", Relay: []string{"/opt/my apps/srt's 100%/srt-darwin", "connect", "127.0.0.1:50001"}}
	windows := Spec{GOOS: "windows", ProxyAddr: "127.0.0.1:60001", Token: "abc", TmpDir: `C:\srt\t`}
	for name, c := range map[string]struct {
		spec Spec
		want string // NAME=VALUE, or NAME for one that must not be there
	}{
		"Java options of the caller stay in front": {with(linux, "JAVA_TOOL_OPTIONS=-Xmx1g"),
			"JAVA_TOOL_OPTIONS=-Xmx1g -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 -Djava.io.tmpdir=/dev/srt/tmp"},
		"Java keeps to IPv4 where the proxy's rule does": {Spec{GOOS: "darwin", ProxyAddr: "127.0.0.1:3128"},
			"JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 -Djava.net.preferIPv4Stack=true"},
		"a directory with a space is quoted for Java": {Spec{GOOS: "darwin", TmpDir: "/a b"}, `JAVA_TOOL_OPTIONS="-Djava.io.tmpdir=/a b"`},
		"no Java option for what Java cannot quote":   {Spec{GOOS: "darwin", TmpDir: `/a"b`}, "JAVA_TOOL_OPTIONS"},
		"ssh of the caller keeps its options": {with(linux, "GIT_SSH_COMMAND=/usr/bin/ssh -i '/k y' -v"),
			"GIT_SSH_COMMAND=/usr/bin/ssh -o ControlMaster=no -o ControlPath=none -o 'ProxyCommand=/dev/srt/connect %h %p' -i '/k y' -v"},
		"another program for ssh stays":             {with(linux, "GIT_SSH_COMMAND=plink -batch"), "GIT_SSH_COMMAND=plink -batch"},
		"a shell construct for ssh stays":           {with(linux, "GIT_SSH_COMMAND=A=1 ssh"), "GIT_SSH_COMMAND=A=1 ssh"},
		"a relay with a difficult path":             {mac, `GIT_SSH_COMMAND=ssh -o ControlMaster=no -o ControlPath=none -o 'ProxyCommand='\''/opt/my apps/srt'\''\'\'''\''s 100%%/srt-darwin'\'' connect 127.0.0.1:50001 %h %p'`},
		"git:// needs a relay of one word":          {mac, "GIT_PROXY_COMMAND"},
		"no relay, no ssh":                          {windows, "GIT_SSH_COMMAND"},
		"a token where the port is shared":          {windows, "HTTPS_PROXY=http://srt:abc@127.0.0.1:60001"},
		"rsync gets the token":                      {windows, "RSYNC_PROXY=srt:abc@127.0.0.1:60001"},
		"rsync without a token":                     {linux, "RSYNC_PROXY=127.0.0.1:3128"},
		"Windows' loopback is behind the proxy":     {windows, "NO_PROXY"},
		"and the caller's exceptions are gone":      {with(windows, "No_Proxy=*"), "No_Proxy"},
		"unless the command may use it":             {Spec{GOOS: "windows", ProxyAddr: "127.0.0.1:60001", Loopback: true}, "NO_PROXY=localhost,127.0.0.1,::1"},
		"gcloud gets the token":                     {windows, "CLOUDSDK_PROXY_PASSWORD=abc"},
		"no small letters on Windows":               {windows, "http_proxy"},
		"TEMP on Windows":                           {windows, `TEMP=C:\srt\t`},
		"no zsh on Windows":                         {windows, "TMPPREFIX"},
		"names on Windows ignore case":              {with(windows, "Tmp=x", "Path=p"), `TMP=C:\srt\t`},
		"the caller's spelling on Windows is gone":  {with(windows, "Tmp=x"), "Tmp"},
		"root's tar keeps its options":              {with(Spec{GOOS: "linux", Root: true}, "TAR_OPTIONS=-v"), "TAR_OPTIONS=-v --no-same-owner"},
		"root's tar":                                {Spec{GOOS: "linux", Root: true}, "TAR_OPTIONS=--no-same-owner"},
		"another user's tar":                        {linux, "TAR_OPTIONS"},
		"root's tar where root stays root":          {Spec{GOOS: "darwin", Root: true}, "TAR_OPTIONS"},
		"tmux where the caller says":                {with(linux, "TMUX_TMPDIR=/mine"), "TMUX_TMPDIR=/mine"},
		"no tmux on Windows":                        {windows, "TMUX_TMPDIR"},
		"TMP where the caller has it":               {with(linux, "TMP=/tmp"), "TMP=/dev/srt/tmp"},
		"no TMP where the caller has none":          {linux, "TMP"},
		"no proxy, no proxy variable":               {Spec{GOOS: "linux"}, "HTTP_PROXY"},
		"no proxy, the caller's stay":               {with(Spec{GOOS: "linux"}, "PIP_PROXY=x", "HTTP_PROXY=y"), "PIP_PROXY=x"},
		"no directory, TMPDIR stays":                {with(Spec{GOOS: "linux"}, "TMPDIR=/t"), "TMPDIR=/t"},
		"always SANDBOX_RUNTIME":                    {with(Spec{}, "SANDBOX_RUNTIME=0"), "SANDBOX_RUNTIME=1"},
		"trusted repositories":                      {Spec{SafeDirectories: []string{"/a", "*"}}, "GIT_CONFIG_COUNT=2"},
		"trusted repositories by number":            {Spec{SafeDirectories: []string{"/a", "*"}}, "GIT_CONFIG_VALUE_1=*"},
		"trusted repositories behind the caller's":  {with(Spec{SafeDirectories: []string{"/a"}}, "GIT_CONFIG_COUNT=3"), "GIT_CONFIG_VALUE_3=/a"},
		"a count that git refuses is left to git":   {with(Spec{SafeDirectories: []string{"/a"}}, "GIT_CONFIG_COUNT=x"), "GIT_CONFIG_COUNT=x"},
		"nothing for git without such repositories": {linux, "GIT_CONFIG_COUNT"},
	} {
		t.Run(name, func(t *testing.T) {
			env := Build(c.spec)
			key, _, has := strings.Cut(c.want, "=")
			var got []string
			for _, e := range env {
				if k, _, _ := strings.Cut(e, "="); k == key {
					got = append(got, e)
				}
			}
			if has && (len(got) != 1 || got[0] != c.want) {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
			if !has && len(got) > 0 {
				t.Errorf("there is %q", got)
			}
		})
	}
}

func TestTableHasReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range Table() {
		if v.Why == "" || seen[v.Name] {
			t.Errorf("%s: reason %q, twice: %v", v.Name, v.Why, seen[v.Name])
		}
		seen[v.Name] = true
	}
	for _, d := range dropped {
		if d.why == "" || d.name != strings.ToLower(d.name) || seen[d.name] {
			t.Errorf("%s: reason %q", d.name, d.why)
		}
		seen[d.name] = true
	}
}

// git gives GIT_SSH_COMMAND to sh, ssh gives ProxyCommand to the user's shell: after both, the relay must get its exact words.
func TestSSHCommandThroughTwoShells(t *testing.T) {
	dir := t.TempDir()
	relay := filepath.Join(dir, "it's a 100% \"re$lay\"")
	script := func(path, text string) {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script(relay, `printf '<%s>' "$0" "$@"`)
	script(filepath.Join(dir, "ssh"), `for a; do case $a in ProxyCommand=*) c=${a#ProxyCommand=}; c=$(printf %s "$c" | sed -e 's/%h/host.example/' -e 's/%p/22/' -e 's/%%/%/g'); exec sh -c "exec $c";; esac; done`)
	env := Build(Spec{GOOS: "linux", ProxyAddr: "127.0.0.1:1", Relay: []string{relay, "a b"}, Caller: []string{"PATH=" + dir + ":/usr/bin:/bin"}})
	cmd := exec.Command("/bin/sh", "-c", `eval "$GIT_SSH_COMMAND" '"$@"'`, "sh", "git@host.example")
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if want := "<" + relay + "><a b><host.example><22>"; err != nil || string(out) != want {
		t.Errorf("got %s (%v), want %s", out, err, want)
	}
}
