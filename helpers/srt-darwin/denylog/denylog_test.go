package denylog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

const session = "0a1B2c3D4e5F"

// line is an event as log(1) prints it; the fields are those that were seen on macOS 14 to 26.
func line(message string, change map[string]any) []byte {
	e := map[string]any{"timezoneName": "", "messageType": "Error", "eventType": "logEvent", "subsystem": "", "category": "", "userID": 0,
		"processID": 0, "processImagePath": "/kernel", "senderImagePath": "/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox",
		"threadID": 75214711, "machTimestamp": 43149983861291, "timestamp": "2026-09-05 23:01:34.988314-0500", "eventMessage": message}
	for k, v := range change {
		e[k] = v
	}
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return b
}

func tag(t testing.TB, command string) string {
	t.Helper()
	s, err := Tag(session, command)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	mine := "\n" + tag(t, "cmd 1")
	for name, c := range map[string]struct {
		message string
		want    wire.Violation
	}{
		"a read": {"Sandbox: cat(96728) deny(1) file-read-data /Users/u/.ssh/id_rsa" + mine,
			wire.Violation{Operation: "file-read", Target: "/Users/u/.ssh/id_rsa", Reason: "Seatbelt: file-read-data", Process: "cat", Count: 1}},
		"a write": {"Sandbox: bash(96731) deny(1) file-write-create /Users/u/a b" + mine,
			wire.Violation{Operation: "file-write", Target: "/Users/u/a b", Reason: "Seatbelt: file-write-create", Process: "bash", Count: 1}},
		"a hard link": {"Sandbox: ln(1) deny(1) file-link /Users/u/a" + mine,
			wire.Violation{Operation: "file-write", Target: "/Users/u/a", Reason: "Seatbelt: file-link", Process: "ln", Count: 1}},
		"a connection": {"Sandbox: curl(9859) deny(1) network-outbound remote:*:80" + mine,
			wire.Violation{Operation: "network-outbound", Target: "*:80", Reason: "Seatbelt: network-outbound", Process: "curl", Count: 1}},
		"a unix socket": {"Sandbox: docker(7) deny(1) network-outbound /private/var/run/docker.sock" + mine,
			wire.Violation{Operation: "unix-socket", Target: "/private/var/run/docker.sock", Reason: "Seatbelt: network-outbound", Process: "docker", Count: 1}},
		"a service": {"Sandbox: go(7) deny(1) mach-lookup com.apple.trustd.agent" + mine,
			wire.Violation{Operation: "mach-lookup", Target: "com.apple.trustd.agent", Reason: "Seatbelt: mach-lookup", Process: "go", Count: 1}},
		"no target": {"Sandbox: kill(7) deny(1) signal" + mine,
			wire.Violation{Operation: "signal", Reason: "Seatbelt: signal", Process: "kill", Count: 1}},
		"one more of the same": {"1 duplicate report for Sandbox: a(5) deny(1) signal" + mine,
			wire.Violation{Operation: "signal", Reason: "Seatbelt: signal", Process: "a", Count: 1}},
		"many of the same": {"37 duplicate reports for Sandbox: a(5) deny(1) signal" + mine,
			wire.Violation{Operation: "signal", Reason: "Seatbelt: signal", Process: "a", Count: 37}},
		"a process with brackets in its name": {"Sandbox: com.example (helper)(99) deny(1) signal" + mine,
			wire.Violation{Operation: "signal", Reason: "Seatbelt: signal", Process: "com.example (helper)", Count: 1}},
		"a process called like a denial": {"Sandbox: a(1) deny(1) b(99) deny(1) signal" + mine,
			wire.Violation{Operation: "signal", Reason: "Seatbelt: signal", Process: "a(1) deny(1) b", Count: 1}},
		"a path called like a denial": {"Sandbox: a(9) deny(1) file-read-data /x(1) deny(1) signal" + mine,
			wire.Violation{Operation: "file-read", Target: "/x(1) deny(1) signal", Reason: "Seatbelt: file-read-data", Process: "a", Count: 1}},
		"another command's tag in the path does not count": {"Sandbox: a(9) deny(1) file-read-data /x\n" + tag(t, "other") + mine,
			wire.Violation{Operation: "file-read", Target: "/x\n" + tag(t, "other"), Reason: "Seatbelt: file-read-data", Process: "a", Count: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.CommandID, c.want.TimeMs = "cmd 1", 1788667294988
			got, ok := Parse(line(c.message, nil), session)
			if !ok || got != c.want {
				t.Errorf("got  %+v, %v\nwant %+v", got, ok, c.want)
			}
		})
	}
}

func TestNotOurs(t *testing.T) {
	good := "Sandbox: cat(1) deny(1) file-read-data /a"
	mine := "\n" + tag(t, "cmd")
	for name, l := range map[string][]byte{
		"the banner":                        []byte(`Filtering the log data using "sender == \"Sandbox\""`),
		"the count at the end":              []byte(`{"count":3,"finished":1}`),
		"no tag":                            line(good, nil),
		"another session's tag":             line(good+"\nsrt.0a1B2c3D4e5G."+mine[len("\nsrt.0a1B2c3D4e5F."):], nil),
		"something behind the tag":          line(good+mine+" x", nil),
		"a tag without a command":           line(good+"\nsrt."+session+".", nil),
		"a tag that is no base64":           line(good+"\nsrt."+session+".@", nil),
		"the tag in the path only":          line("Sandbox: cat(1) deny(1) file-read-data /a"+strings.ReplaceAll(mine, "\n", ""), nil),
		"an allowance":                      line("Sandbox: cat(1) allow file-read-data /a"+mine, nil),
		"the system's policy":               line("System Policy: cat(1) deny(1) file-read-data /a"+mine, nil),
		"written by a program":              line(good+mine, map[string]any{"processID": 99, "processImagePath": "/tmp/x"}),
		"written by another extension":      line(good+mine, map[string]any{"senderImagePath": "/System/Library/Extensions/Other.kext/Contents/MacOS/Other"}),
		"a sender that is only named alike": line(good+mine, map[string]any{"senderImagePath": "/tmp/Sandbox"}),
		"no process id":                     line(good+mine, map[string]any{"processID": nil}),
		"no process":                        line("Sandbox: deny(1) file-read-data /a"+mine, nil),
		"an operation in capitals":          line("Sandbox: cat(1) deny(1) FILE /a"+mine, nil),
		"a count of nothing":                line("0 duplicate reports for "+good+mine, nil),
		"a count beyond numbers":            line("99999999999999999999 duplicate reports for "+good+mine, nil),
		"noise":                             line("Sandbox: zsh(1) deny(1) mach-lookup com.apple.diagnosticd"+mine, nil),
		"too long":                          line(good+strings.Repeat("x", MaxLine)+mine, nil),
		"broken off":                        line(good+mine, nil)[:90],
	} {
		t.Run(name, func(t *testing.T) {
			if v, ok := Parse(l, session); ok {
				t.Errorf("taken for %+v", v)
			}
		})
	}
}

func TestTag(t *testing.T) {
	for _, id := range []string{"a", "tool use/1", strings.Repeat("é", 50), "\x00"} {
		if got, ok := commandOf(tag(t, id), session); !ok || got != id {
			t.Errorf("%q came back as %q, %v", id, got, ok)
		}
	}
	for name, c := range map[string]struct{ session, command, err string }{
		"no command":        {session, "", "the command id has 0 bytes, 1 to 100 are possible (a bug, please report)"},
		"a long command":    {session, strings.Repeat("a", 101), "the command id has 101 bytes, 1 to 100 are possible (a bug, please report)"},
		"a short session":   {"abc", "c", `"abc" is not a session id: 8 to 64 letters and digits (a bug, please report)`},
		"a quoting session": {`abcdefg"h`, "c", `"abcdefg\"h" is not a session id: 8 to 64 letters and digits (a bug, please report)`},
	} {
		if _, err := Tag(c.session, c.command); err == nil || err.Error() != c.err {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := Predicate(session)
	if want := `sender == "Sandbox" AND eventMessage CONTAINS "srt.0a1B2c3D4e5F."`; err != nil || got != want {
		t.Errorf("predicate %s, %v", got, err)
	}
	if _, err := Predicate(`x" OR 1==1 OR "`); err == nil {
		t.Error("a session id that is a predicate")
	}
}

// FuzzParse: whatever a line says, a violation is one of this session, within its bounds; and a process or path that the command chooses
// never makes it another command's.
func FuzzParse(f *testing.F) {
	f.Add(string(line("Sandbox: cat(1) deny(1) file-read-data /a\n"+tag(f, "cmd"), nil)), "cat", "/a")
	f.Add(`{"count":3,"finished":1}`, "a(1) deny(1) b", "/x\nsrt."+session+".b3RoZXI")
	f.Add(`{"eventMessage":"x","processID":0}`, "1 duplicate report for Sandbox: a(1)", "/) deny(1) signal")
	f.Fuzz(func(t *testing.T, raw, process, target string) {
		if v, ok := Parse([]byte(raw), session); ok && (v.CommandID == "" || v.Count < 1 || v.Count > maxCount || !isOperation(v.Operation)) {
			t.Fatalf("%q became %+v", raw, v)
		}
		l := line("Sandbox: "+process+"(77) deny(1) file-read-data "+target+"\n"+tag(t, "mine"), nil)
		if v, ok := Parse(l, session); ok && v.CommandID != "mine" {
			t.Fatalf("process %q, target %q: %+v", process, target, v)
		}
	})
}
