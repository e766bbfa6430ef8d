package violation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

func TestReportLines(t *testing.T) {
	v := wire.Violation{CommandID: "id", Operation: FileWrite, Target: "/tmp/a\n\u202e<b>\U000e0041\u009b", Reason: "denyWrite", Rule: "/tmp", Process: "sh", TimeMs: 1700000000123, Count: 3}
	want := `{"time":"2023-11-14T22:13:20.123Z","commandId":"id","operation":"file-write","target":"/tmp/a\n\u202e\u003cb\u003e\udb40\udc41\u009b","verdict":"deny","rule":"/tmp","reason":"denyWrite","process":"sh","count":3}` + "\n"
	if got := string(ReportDenied(v)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	var back Report
	if err := json.Unmarshal(ReportDenied(v), &back); err != nil || back.Target != v.Target {
		t.Errorf("the target comes back as %q, %v", back.Target, err)
	}
	d := wire.Decision{Verdict: wire.VerdictAllow, CommandID: "id", Operation: Network, Target: "h.example:443", Rule: "*.example", Reason: "allowed", Process: "p", TimeMs: 5, Count: 2}
	want = `{"time":"1970-01-01T00:00:00.005Z","commandId":"id","operation":"network-outbound","target":"h.example:443","verdict":"allow","rule":"*.example","reason":"allowed","process":"p","count":2}` + "\n"
	if got := string(ReportAllowed(d)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := string(ReportAllowed(wire.Decision{})); !strings.Contains(got, `"verdict":"deny"`) {
		t.Errorf("the zero decision: %s", got)
	}
	secret := wire.Violation{Operation: Network, Target: "https://u:SECRET@h/p?SECRET", Reason: "see https://h/?SECRET"}
	if got := string(ReportDenied(secret)); strings.Contains(got, "SECRET") {
		t.Errorf("a secret in %s", got)
	}
}

func FuzzReport(f *testing.F) {
	f.Add("/x\n", "r")
	f.Add("\xff\u202e", "\u2028")
	f.Fuzz(func(t *testing.T, target, reason string) {
		line := ReportDenied(wire.Violation{Operation: FileRead, Target: target, Reason: reason})
		if strings.Count(string(line), "\n") != 1 || line[len(line)-1] != '\n' {
			t.Fatalf("not one line: %q", line)
		}
		var back Report
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		exact := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\ufffd", "") }
		if len(target) <= MaxTarget && exact(back.Target) != exact(target) {
			t.Fatalf("%q came back as %q", target, back.Target)
		}
		for _, c := range string(line[:len(line)-1]) {
			if invisible(c) || c < ' ' || c == 0x7f {
				t.Fatalf("%U in %q", c, line)
			}
		}
	})
}
