package wire

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// messages is one of each message, with every field set.
func messages() map[string]any {
	entry := []PathEntry{{Path: "/w", Glob: true, Rule: "~/w\t\"x\""}}
	violation := &Violation{CommandID: "c", Operation: "network-outbound", Target: "h:1", Reason: "r", Rule: "u", Process: "p", TimeMs: 1, Count: 2}
	fault := &Fault{Code: CodePolicy, Op: "mount", Path: "/p", Detail: "d", Hint: "h"}
	return map[string]any{
		"launch-request": &LaunchRequest{Version: Version, CommandID: "id",
			Command: Command{Argv: []string{"a", "b c"}, Env: []string{"K=V"}, Dir: "/d", Terminal: true, Foreground: true, PassFDs: []int{3}, IgnoredSignals: []int{1}},
			Files: FilePolicy{Disabled: true, DenyRead: entry, AllowRead: entry, AllowWrite: entry, DenyWrite: entry,
				Protected: []Protected{{Name: ".git/hooks", Dir: true, Reason: "r"}}, GitRules: true, GitConfig: true, ScanDepth: 3},
			Network: NetPolicy{ProxyAddr: LinuxProxyAddr, Mirrors: []string{"127.0.0.1:1"}, AllowLocalBinding: true, WeakerIsolation: true},
			Process: ProcPolicy{AllowAllUnixSockets: true, AllowUnixSockets: entry, AllowNestedUserNamespaces: true, WeakerNested: true, AllowPty: true,
				AllowAppleEvents: true, AllowMachLookup: []string{"m"}},
			Host: HostContext{Home: "/h", BwrapPath: "/b", SessionID: "s", Debug: true}, Explain: true, Audit: true},
		"launch-plan": &LaunchPlan{Version: Version, Argv: []string{"/b"}, Env: []string{"E=1"}, Dir: "/",
			Descriptors: []Descriptor{{Number: 5, Kind: FDData, Data: []byte{0, 255}}}, NewSession: true, Mode: "m", Warnings: []string{"w"}, Notes: []string{"n"}},
		"describe-request": &DescribeRequest{Version: Version},
		"description":      &Description{Version: Version, Name: "n", OS: "linux", Arch: "amd64", Build: "b", Features: []string{"f"}},
		"check-request":    &CheckRequest{Version: Version, Host: HostContext{Home: "/h"}},
		"check-report":     &CheckReport{Version: Version, Items: []CheckItem{{Name: "n", State: CheckWeak, Detail: "d", Fix: "f"}}},
		"watch-request":    &WatchRequest{Version: Version, SessionID: "s"},
		"guard-request":    &GuardRequest{Version: Version, TmpDir: "/t"},
		"guard-message":    &GuardMessage{Version: Version, Pid: 7},
		"fault":            fault,
		"control-listeners": &ControlMessage{Version: Version, Kind: KindListeners,
			Listeners: []Listener{{Role: RoleProxy}, {Role: RoleMirror, Target: "127.0.0.1:1"}}},
		"control-fault":     &ControlMessage{Version: Version, Kind: KindFault, Fault: fault},
		"control-violation": &ControlMessage{Version: Version, Kind: KindViolation, Violation: violation},
		"control-allowed":   &ControlMessage{Version: Version, Kind: KindAllowed, Allowed: &Decision{Verdict: VerdictAllow, TimeMs: 1, Count: 2}},
		"control-stopped":   &ControlMessage{Version: Version, Kind: KindStopped, Stopped: &Stopped{Signal: 20}},
		"control-report":    &ControlMessage{Version: Version, Kind: KindReport, Report: []string{"l"}},
		"control-exit":      &ControlMessage{Version: Version, Kind: KindExit, Exit: &Exit{Code: 3}},
		"proxy-configure": &ProxyCommand{Version: Version, Seq: 1<<64 - 1, Op: OpConfigure, ConfigFD: true, Config: &ProxyConfig{Version: Version,
			AllowedDomains: []string{"a"}, DeniedDomains: []string{"*"}, DeniedDomainReasons: map[string]string{"b": "2", "a": "1"}, StrictAllowlist: true,
			DeniedResolvedAddresses: []string{"10.0.0.0/8"}, Ask: true, AskTimeoutMs: 5, Parent: ParentProxy{HTTP: "h", HTTPS: "s", NoProxy: "n"},
			Mitm: &MitmProxy{SocketPath: "/s", Domains: []string{"m"}}, HTTPProxyPort: 1, SOCKSProxyPort: 2, Audit: true, Debug: true}},
		"proxy-attach": &ProxyCommand{Version: Version, Seq: 2, Op: OpAttach, Attach: &Attach{CommandID: "c", Listeners: []Listener{{Role: RoleProxy}},
			Lists: &NetLists{AllowedDomains: []string{"a"}, DeniedDomains: []string{}}}},
		"proxy-assign": &ProxyCommand{Version: Version, Seq: 5, Op: OpAssign, Assign: &Assign{CommandID: "c", Lists: &NetLists{AllowedDomains: []string{}, DeniedDomains: []string{"d"}}}},
		"proxy-answer": &ProxyCommand{Version: Version, Seq: 3, Op: OpAnswer, Answer: &Answer{ID: 9, Allow: true}},
		"proxy-event":  &ProxyEvent{Version: Version, Kind: EventAsk, Ask: &Ask{ID: 9, CommandID: "c", Host: "h", Port: 443}},
		"proxy-allowed": &ProxyEvent{Version: Version, Kind: EventAllowed, Seq: 4,
			Decision: &Decision{Verdict: VerdictAllow, CommandID: "c", Operation: "network-outbound", Target: "t", Rule: "r", Reason: "w",
				Process: "p", TimeMs: 1, Count: 2}},
	}
}

// A change of a golden file is a change of the contract: both sides must come from one build, so Version need not change with it.
func TestGoldenMessages(t *testing.T) {
	for name, msg := range messages() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "golden", name+".json")
			got, err := Encode(msg)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("encoded\n%swant\n%s", got, want)
			}
			back := reflect.New(reflect.TypeOf(msg).Elem()).Interface()
			if err := Decode(want, MaxMessage, back); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back, msg) {
				t.Errorf("decoded %+v, want %+v", back, msg)
			}
			plain := reflect.New(reflect.TypeOf(msg).Elem()).Interface()
			if err := json.Unmarshal(want, plain); err != nil || !reflect.DeepEqual(plain, msg) {
				t.Errorf("encoding/json reads it as %+v, %v", plain, err)
			}
		})
	}
}

func TestBytesThatAreNotTextSurvive(t *testing.T) {
	in := &Command{Argv: []string{"\xff\xfe", "a\x00b", "\u2028\n\t\r\"\\"}, Env: []string{}, PassFDs: []int{}, IgnoredSignals: []int{}}
	b, err := Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Command
	if err := Decode(b, MaxMessage, &out); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&out, in) {
		t.Errorf("%q came back as %q", in.Argv, out.Argv)
	}
}

func TestLongListsSurvive(t *testing.T) {
	for _, n := range []int{someItems - 1, someItems, someItems + 1, 100, maxAhead + 100} {
		in := LaunchRequest{Version: Version}
		for i := range n {
			in.Files.DenyWrite = append(in.Files.DenyWrite, PathEntry{Path: strings.Repeat(`/],{"\\`, i%7), Rule: strings.Repeat("x", i)})
		}
		b, err := Encode(&in)
		if err != nil {
			t.Fatal(err)
		}
		var out LaunchRequest
		if err := Decode(b, MaxMessage, &out); err != nil || !reflect.DeepEqual(in.Files.DenyWrite, out.Files.DenyWrite) {
			t.Errorf("%d entries came back as %d, %v", n, len(out.Files.DenyWrite), err)
		}
	}
}

// Room is made for what a list holds, whatever stands in its texts; where the text is broken it only has to end.
func TestItemsLeft(t *testing.T) {
	for text, want := range map[string]int{
		`1]`: 1, `1,2]`: 2, `"a,b","]\\\"],",3],4,5`: 3, `{"k":[1,2],"l":"}"},{"k":[]}]`: 2, `1,2`: 2, `"a,\\`: 1, ``: 1,
	} {
		if got := (&decoder{text: text}).itemsLeft(); got != want {
			t.Errorf("%s: %d items, want %d", text, got, want)
		}
	}
}

func TestNilListIsWrittenAsEmpty(t *testing.T) {
	b, err := Encode(&NetLists{})
	if want := `{"allowedDomains":[],"deniedDomains":[]}`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

func TestRefusedMessages(t *testing.T) {
	for name, c := range map[string]struct{ text, code, detail string }{
		"unknown key":            {`{"allowedDomains":[],"deniedDomains":[],"x":1}`, CodeMalformed, `NetLists: unknown key "x"`},
		"wrong case":             {`{"AllowedDomains":[],"deniedDomains":[]}`, CodeMalformed, `NetLists: unknown key "AllowedDomains"`},
		"key twice":              {`{"allowedDomains":[],"allowedDomains":[],"deniedDomains":[]}`, CodeMalformed, `NetLists: key "allowedDomains" twice`},
		"key missing":            {`{"allowedDomains":[]}`, CodeMalformed, `NetLists: key "deniedDomains" is missing`},
		"null for a list":        {`{"allowedDomains":[],"deniedDomains":null}`, CodeMalformed, `NetLists.deniedDomains: 'n' where '[' belongs, at byte 37`},
		"a number for a list":    {`{"allowedDomains":1,"deniedDomains":[]}`, CodeMalformed, `NetLists.allowedDomains: '1' where '[' belongs, at byte 18`},
		"text after the message": {`{"allowedDomains":[],"deniedDomains":[]} {}`, CodeMalformed, "text after the message"},
		"trailing comma":         {`{"allowedDomains":["a",],"deniedDomains":[]}`, CodeMalformed, `NetLists.allowedDomains: ']' where '"' belongs, at byte 23`},
		"cut off":                {`{"allowedDomains":["a`, CodeMalformed, "NetLists.allowedDomains: the message ends in the middle"},
		"half a surrogate":       {`{"allowedDomains":["\ud800"],"deniedDomains":[]}`, CodeMalformed, "NetLists.allowedDomains: half a surrogate pair, at byte 26"},
		"a raw line break":       {"{\"allowedDomains\":[\"a\nb\"],\"deniedDomains\":[]}", CodeMalformed, "NetLists.allowedDomains: control character in a string, at byte 21"},
		"too large":              {strings.Repeat(" ", 2000), CodeTooLarge, "2000 bytes, at most 1000 are accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Decode([]byte(c.text), 1000, new(NetLists))
			var f *Fault
			if !errors.As(err, &f) || f.Code != c.code || f.Detail != c.detail {
				t.Errorf("%v, want %s: %s", err, c.code, c.detail)
			}
		})
	}
}

func TestVersionIsJudgedBeforeTheKeys(t *testing.T) {
	for text, code := range map[string]string{
		`{"futureKey":[{"a":[1,"]"]}],"version":2}`: CodeVersion,
		`{"version":01}`:                    CodeVersion,
		`{"version":"1"}`:                   CodeVersion,
		`{"version":1.0}`:                   CodeVersion,
		`{}`:                                CodeVersion,
		`{"version":1,"x":2}`:               CodeMalformed,
		`[`:                                 CodeMalformed,
		strings.Repeat("[", 1000):           CodeMalformed,
		`{"a":` + strings.Repeat("[", 1000): CodeMalformed,
	} {
		var f *Fault
		if err := Decode([]byte(text), MaxMessage, new(DescribeRequest)); !errors.As(err, &f) || f.Code != code {
			t.Errorf("%.40s: %v, want %s", text, err, code)
		}
	}
}

func TestNumbersHaveOneSpelling(t *testing.T) {
	for _, n := range []string{"+1", "01", "1.0", "1e2", "-0", "9223372036854775808", "", "true", `"1"`} {
		if err := Decode([]byte(`{"code":`+n+`,"signal":0}`), MaxMessage, new(Exit)); err == nil {
			t.Errorf("%s was taken for a number", n)
		}
	}
}

// What Decode accepts, encoding/json reads the same way, and Encode writes it so that Decode reads it again.
func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		b, err := Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, fresh := range []func() any{
			func() any { return new(LaunchRequest) }, func() any { return new(ControlMessage) }, func() any { return new(ProxyCommand) },
			func() any { return new(ProxyEvent) }, func() any { return new(LaunchPlan) }, func() any { return new(Exit) },
		} {
			v := fresh()
			if Decode(data, MaxMessage, v) != nil {
				continue
			}
			b, err := Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			again := fresh()
			if err := Decode(b, MaxMessage, again); err != nil || !reflect.DeepEqual(v, again) {
				t.Fatalf("%+v came back as %+v, %v", v, again, err)
			}
			if plain := fresh(); json.Valid(data) && json.Unmarshal(data, plain) == nil && strings.ToValidUTF8(string(data), "") == string(data) {
				if !reflect.DeepEqual(v, plain) {
					t.Fatalf("read as %+v, by encoding/json as %+v", v, plain)
				}
			}
		}
	})
}
