package runas

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	user    sd.SID = "S-1-5-21-1-2-3-1001"
	account sd.SID = "S-1-5-21-1-2-3-1002"
	group   sd.SID = "S-1-5-21-1-2-3-1003"
	logon   sd.SID = "S-1-5-5-0-4711"

	callerLogon sd.SID = "S-1-5-5-0-1234"
)

func TestGolden(t *testing.T) {
	root := sd.ForRoot("root")
	got := "What a run is made of, whatever its files.\n-- run --\n" + Describe(user, account, group, logon, sd.ForRoot("run"), []sd.SID{callerLogon}, acl.Plan{Roots: []acl.Root{{Path: `C:\w`, SID: root}}})
	file := filepath.Join("testdata", "run.txtar")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Fatalf("differs from %s (%v); -update rewrites it\n%s", file, err, got)
	}
}

// TestWhoReachesWhat asks the model what a command can do with the things of its run.
func TestWhoReachesWhat(t *testing.T) {
	runRoot := sd.ForRoot("run")
	spec := Token(logon, runRoot, nil, []sd.SID{callerLogon})
	command := sd.Token{User: account, Groups: []sd.SID{sd.Everyone, sd.Users, sd.AuthenticatedUsers, logon, group}, Restricting: spec.Restricting, WriteRestricted: true}
	runner := sd.Token{User: account, Groups: command.Groups}
	other := command // another run's command
	other.Groups = []sd.SID{sd.Everyone, sd.Users, sd.AuthenticatedUsers, "S-1-5-5-0-9999", group}
	other.Restricting = Token("S-1-5-5-0-9999", sd.ForRoot("other"), nil, nil).Restricting
	made := sd.Descriptor{Owner: account, DACL: spec.DefaultDACL} // what the command makes
	runnerDefault := sd.Descriptor{Owner: account, DACL: []sd.ACE{{Mask: sd.GenericAll, SID: account}, {Mask: sd.GenericAll, SID: sd.LocalSystem}, {Mask: sd.GenericRead | sd.GenericExecute, SID: logon}}}
	pipeMap := sd.FileMapping
	window := sd.Mapping{Read: 0x20041, Write: 0x2009E, Execute: 0x20100, All: limits.DesktopAll}
	for name, c := range map[string]struct {
		d    sd.Descriptor
		t    sd.Token
		mask uint32
		m    sd.Mapping
		want bool
	}{
		"the runner speaks on the pipe":                               {PipeSecurity(user, account), runner, sd.ReadData | sd.WriteData, pipeMap, true},
		"the command does not":                                        {PipeSecurity(user, account), command, sd.ReadData | sd.WriteData, pipeMap, false},
		"the command opens what it made":                              {made, command, 0x1F0FFF, sd.ProcessMapping, true},
		"another run's command does not":                              {made, other, 0x0020, sd.ProcessMapping, false},
		"nor reads its memory":                                        {made, other, 0x0010, sd.ProcessMapping, false},
		"the command does not write into a runner that forgot itself": {runnerDefault, command, 0x0020, sd.ProcessMapping, false},
		"the command does not read the runner's memory":               {withOwner(RunnerSecurity(user), account), command, 0x0010, sd.ProcessMapping, false},
		"nor ends it":                               {withOwner(RunnerSecurity(user), account), command, 0x0001, sd.ProcessMapping, false},
		"nor takes a handle out of it":              {withOwner(RunnerSecurity(user), account), command, 0x0040, sd.ProcessMapping, false},
		"nor asks it for its token":                 {withOwner(RunnerSecurity(user), account), command, 0x1000, sd.ProcessMapping, false},
		"nor does one without a restriction":        {withOwner(RunnerSecurity(user), account), runner, 0x1000, sd.ProcessMapping, false},
		"nor opens it up":                           {withOwner(RunnerSecurity(user), account), runner, sd.WriteDAC, sd.ProcessMapping, false},
		"the user may end the runner":               {withOwner(RunnerSecurity(user), account), sd.Token{User: user}, 0x0001, sd.ProcessMapping, true},
		"the command draws on its desktop":          {DesktopSecurity(user, account, runRoot), command, 0x0003, window, true},
		"another run's command does not draw on it": {DesktopSecurity(user, account, runRoot), other, 0x0002, window, false},
		"the command writes its own folder":         {RunSecurity(user, group, runRoot), command, sd.WriteData, sd.FileMapping, true},
		"another run's command does not write it":   {RunSecurity(user, group, runRoot), other, sd.WriteData, sd.FileMapping, false},
		"the command does not move its own folder":  {RunSecurity(user, group, runRoot), command, sd.Delete, sd.FileMapping, false},
		"the user may remove it":                    {RunSecurity(user, group, runRoot), sd.Token{User: user}, sd.MaskAll, sd.FileMapping, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, known := sd.Check(c.d, c.t, c.mask, c.m); got != c.want || !known {
				t.Fatalf("got %v, known %v", got, known)
			}
		})
	}
}

func withOwner(d sd.Descriptor, owner sd.SID) sd.Descriptor { d.Owner = owner; return d }

func TestCheckToken(t *testing.T) {
	want := Token(logon, sd.ForRoot("run"), []sd.SID{sd.ForRoot("a")}, []sd.SID{callerLogon})
	good := winapi.TokenFacts{User: account, Groups: []sd.SID{sd.Everyone, sd.Users, group, "S-1-5-21-1-2-3-513", "S-1-5-21-7-7-7-1099"}, Restricting: want.Restricting, WriteRestricted: true, Privileges: []string{limits.KeptPrivilege}}
	if d := CheckToken(want, good, account, group); d != "" {
		t.Fatal(d)
	}
	for name, c := range map[string]struct {
		change func(*winapi.TokenFacts)
		text   string
	}{
		"nothing at all":          {func(f *winapi.TokenFacts) { *f = winapi.TokenFacts{} }, "it belongs to , not to the sandbox account S-1-5-21-1-2-3-1002"},
		"another user":            {func(f *winapi.TokenFacts) { f.User = user }, "it belongs to S-1-5-21-1-2-3-1001, not to the sandbox account S-1-5-21-1-2-3-1002"},
		"fully restricted only":   {func(f *winapi.TokenFacts) { f.WriteRestricted = false }, "it is not write-restricted"},
		"one identifier too many": {func(f *winapi.TokenFacts) { f.Restricting = append(slices.Clone(f.Restricting), sd.Users) }, ""},
		"one too few":             {func(f *winapi.TokenFacts) { f.Restricting = f.Restricting[1:] }, ""},
		"one twice":               {func(f *winapi.TokenFacts) { f.Restricting = append(f.Restricting[1:], f.Restricting[1]) }, ""},
		"an administrator":        {func(f *winapi.TokenFacts) { f.Groups = append(f.Groups, sd.Administrators) }, "it is a member of S-1-5-32-544"},
		"a backup operator":       {func(f *winapi.TokenFacts) { f.Groups = append(f.Groups, "S-1-5-32-551") }, "it is a member of S-1-5-32-551"},
		"a group of the machine":  {func(f *winapi.TokenFacts) { f.Groups = append(f.Groups, "S-1-5-21-1-2-3-1099") }, "it is a member of S-1-5-21-1-2-3-1099"},
		"the user's session":      {func(f *winapi.TokenFacts) { f.Groups = append(f.Groups, callerLogon) }, "it is a member of S-1-5-5-0-1234"},
		"another privilege":       {func(f *winapi.TokenFacts) { f.Privileges = []string{"SeDebugPrivilege"} }, "it has the privileges [SeDebugPrivilege]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := good
			f.Restricting = slices.Clone(good.Restricting)
			c.change(&f)
			if got := CheckToken(want, f, account, group); got == "" || c.text != "" && got != c.text {
				t.Fatalf("got %q", got)
			}
		})
	}
	bad := Token(logon, account, nil, nil)
	if d := CheckToken(bad, winapi.TokenFacts{User: account, WriteRestricted: true, Restricting: bad.Restricting}, account, group); d != "the account itself is among its restricting identifiers" {
		t.Errorf("got %q", d)
	}
}

func TestHalf(t *testing.T) {
	for name, c := range map[string]struct {
		own  []sd.SID
		want sd.SID
	}{"its own": {[]sd.SID{logon}, logon}, "the caller's first": {[]sd.SID{callerLogon, logon}, logon}, "the caller's only": {[]sd.SID{callerLogon}, account}, "none": {nil, account}} {
		if got := Half(c.own, []sd.SID{callerLogon}, account); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	own := Own{Tmp: `C:\run\tmp`, Home: `C:\run\home`}
	for name, c := range map[string]struct {
		base []string
		own  Own
		want string // a line that must be there
		not  string // text that must not be
		err  string
	}{
		"the run's own temporary directory":     {[]string{`Temp=C:\Users\alice\Temp`}, own, `TEMP=C:\run\tmp`, "alice", ""},
		"the run's own home":                    {[]string{`USERPROFILE=C:\Users\alice`, `AppData=C:\Users\alice\x`}, own, `APPDATA=C:\run\home\AppData\Roaming`, "alice", ""},
		"the caller's home where it is granted": {[]string{`USERPROFILE=C:\Users\alice`}, Own{Tmp: `C:\t`}, `USERPROFILE=C:\Users\alice`, "C:\\run", ""},
		"one spelling of each name":             {[]string{"Http_Proxy=a", "HTTP_PROXY=b"}, own, "HTTP_PROXY=b", "Http_Proxy", ""},
		"curl's own TLS":                        {[]string{"Curl_Ssl_Backend=schannel"}, own, "CURL_SSL_BACKEND=openssl", "schannel", ""},
		"git's own TLS":                         {nil, own, "GIT_CONFIG_VALUE_0=openssl", "", ""},
		"git's own TLS behind other settings":   {[]string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=a", "GIT_CONFIG_VALUE_0=b"}, own, "GIT_CONFIG_KEY_2=http.sslBackend", "", ""},
		"no library for every .NET program":     {[]string{`Cor_Profiler_Path=C:\x.dll`}, own, "", "x.dll", ""},
		"no compatibility layer":                {[]string{"__COMPAT_LAYER=RunAsAdmin"}, own, "", "RunAsAdmin", ""},
		"no folders of other drives":            {[]string{`=D:=D:\x`}, own, "", `D:\x`, ""},
		"a value with =":                        {[]string{"A=b=c"}, own, "A=b=c", "", ""},
		"an empty value":                        {[]string{"A="}, own, "A=", "", ""},
		"a NUL":                                 {[]string{"A=b\x00c"}, own, "", "", `environment: "A=b\x00c" holds a NUL`},
		"no name":                               {[]string{"novalue"}, own, "", "", `environment: "novalue" is not NAME=VALUE`},
		"nothing":                               {[]string{""}, own, "", "", `environment: "" is not NAME=VALUE`},
		"a broken count":                        {[]string{"GIT_CONFIG_COUNT=x"}, own, "", "", `environment: GIT_CONFIG_COUNT="x" is no count`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Environment(c.base, c.own, "srt-sandbox")
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || c.want != "" && !slices.Contains(got, c.want) || c.not != "" && strings.Contains(strings.Join(got, "\n"), c.not) {
				t.Fatalf("got %q, %v", got, err)
			}
			if !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(strings.ToUpper(name1(a)), strings.ToUpper(name1(b))) }) {
				t.Errorf("not sorted: %q", got)
			}
		})
	}
}

func name1(e string) string { n, _, _ := strings.Cut(e, "="); return n }

func TestFind(t *testing.T) {
	there := map[string]bool{`C:\tools\make.exe`: true, `C:\tools\npm.cmd`: true, `C:\w\make.exe`: true, `C:\w\sub\x.bat`: true, `C:\w\run.py`: true, `C:\Windows\System32\cmd.exe`: true, `C:\tools\a.b.exe`: true}
	exists := func(p string) bool { return there[p] }
	env := []string{`Path=relative;"C:\tools";\\share\x;C:\Windows\System32`}
	for name, c := range map[string]struct {
		argv []string
		path string
		line string
		code string
		text string
	}{
		"a name in PATH":               {[]string{"make", "a b"}, `C:\tools\make.exe`, `"C:\tools\make.exe" "a b"`, "", ""},
		"not in the working directory": {[]string{"sub\\..\\make"}, `C:\w\make.exe`, `"C:\w\make.exe"`, "", ""},
		"a dot in the name":            {[]string{"a.b"}, `C:\tools\a.b.exe`, `"C:\tools\a.b.exe"`, "", ""},
		"relative with slashes":        {[]string{"./sub/x.bat", "%A%"}, `C:\Windows\System32\cmd.exe`, `"C:\Windows\System32\cmd.exe" /d /e:on /v:off /s /c ""C:\w\sub\x.bat" "%%cd:~,%A%%cd:~,%""`, "", ""},
		"a batch file by name":         {[]string{"npm", "ci"}, `C:\Windows\System32\cmd.exe`, `"C:\Windows\System32\cmd.exe" /d /e:on /v:off /s /c ""C:\tools\npm.cmd" ci"`, "", ""},
		"a shell line":                 {[]string{"cmd.exe", "/d", "/s", "/c", `echo "a b" & dir`}, `C:\Windows\System32\cmd.exe`, `"C:\Windows\System32\cmd.exe" /d /s /v:off /c "echo "a b" & dir"`, "", ""},
		"cmd with other switches":      {[]string{"cmd", "/k", "dir"}, `C:\Windows\System32\cmd.exe`, `"C:\Windows\System32\cmd.exe" /k dir`, "", ""},
		"absolute":                     {[]string{`c:\tools\make.exe`}, `C:\tools\make.exe`, `"C:\tools\make.exe"`, "", ""},
		"a script":                     {[]string{`.\run.py`}, "", "", wire.CodeNotExec, `run ".\\run.py": neither a program (.exe, .com) nor a batch file (.bat, .cmd)`},
		"missing":                      {[]string{"none"}, "", "", wire.CodeNotFound, `run "none": not found where the command may look`},
		"a share":                      {[]string{`\\s\x\y.exe`}, "", "", wire.CodeNotFound, `run "\\\\s\\x\\y.exe": path "\\\\s\\x\\y.exe": a network or device path; only folders on a local drive can be guarded`},
		"a device":                     {[]string{"nul"}, "", "", wire.CodeNotFound, `run "nul": not found where the command may look`},
		"a stream":                     {[]string{`C:\tools\make.exe:x`}, "", "", wire.CodeNotFound, `run "C:\\tools\\make.exe:x": path "C:\\tools\\make.exe:x": "make.exe:x" has a character that no name may have (a colon would name a stream of the file)`},
		"nothing":                      {[]string{""}, "", "", wire.CodeNotFound, "run: no command"},
		"a line end for a batch file":  {[]string{"npm", "a\nb"}, "", "", wire.CodeNotExec, `run "npm": command line: "a\nb" holds a line end, which ends a batch file's line`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Find(c.argv, env, `C:\w`, `C:\Windows\System32`, exists)
			if c.code != "" {
				var f *wire.Fault
				if !errors.As(err, &f) || f.Code != c.code || f.Error() != c.text {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || got.Path != c.path || got.Line != c.line {
				t.Fatalf("got %+v, %v", got, err)
			}
		})
	}
}

func TestSchannel(t *testing.T) {
	const system, own = `C:\Windows\System32`, "it ended with status "
	for name, c := range map[string]struct {
		path string
		argv []string
		code uint32
		want bool
	}{
		"the curl of Windows":                     {`c:\windows\system32\CURL.exe`, []string{"curl", "https://x"}, 35, true},
		"its 32-bit one":                          {`C:\Windows\SysWOW64\curl.exe`, []string{"curl", "x"}, 35, true},
		"the curl of Windows, for another reason": {system + `\curl.exe`, []string{"curl", "https://x"}, 6, false},
		"the curl of Windows, successful":         {system + `\curl.exe`, []string{"curl", "http://x"}, 0, false},
		"another curl":                            {`C:\Program Files\Git\mingw64\bin\curl.exe`, []string{"curl", "https://x"}, 35, false},
		"git that was told to":                    {`C:\Git\cmd\git.exe`, []string{"git", "-c", "HTTP.sslbackend=Schannel", "fetch"}, 128, true},
		"git clone that was told to":              {`C:\Git\cmd\git.exe`, []string{"git", "clone", "--config=http.sslBackend=schannel", "x"}, 128, true},
		"git that was told to, successful":        {`C:\Git\cmd\git.exe`, []string{"git", "-c", "http.sslBackend=schannel", "status"}, 0, false},
		"git":                                     {`C:\Git\cmd\git.exe`, []string{"git", "fetch"}, 128, false},
		"a program of another kind":               {`C:\x\y.exe`, []string{"y", "http.sslBackend=schannel"}, 35, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := schannel(c.path, c.argv, system, c.code)
			if (f != nil) != c.want || c.want && (f.Path != c.path || f.Hint == "" || !strings.HasPrefix(f.Detail, own) || !strings.Contains(f.Detail, "Schannel")) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func FuzzReceive(f *testing.F) {
	var b bytes.Buffer
	if err := Send(&b, Message{Kind: SayExit, Exit: &ExitMessage{Code: 0xFFFFFFFF}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{255, 255, 255, 255})
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m Message
		if err := Receive(bytes.NewReader(raw), &m); err != nil {
			var fault *wire.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("%v is no fault", err)
			}
			return
		}
		var again bytes.Buffer
		if err := Send(&again, m); err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := Receive(&again, &back); err != nil || back.Kind != m.Kind {
			t.Fatalf("%+v became %+v, %v", m, back, err)
		}
	})
}
