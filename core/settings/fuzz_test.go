package settings

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func itoa(i int) string { return strconv.Itoa(i) }

// FuzzParse: whatever the text, the reader ends without a panic and either accepts or gives one printable line with a position inside.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, ``, "\ufeff{}", "{//\n}", `{"network":{"allowedDomains":["a.b"],"deniedDomainReasons":{"x":"y"}}}`,
		`{"filesystem":{"denyRead":["~/.ssh",{"path":"a*","literal":true}]}}`, `{"mandatoryDenySearchDepth":3}`, `{"windows":{"proxyPortRange":[1,2]}}`,
		`{"a":{"b":[1,2,{"c":null}]}}`, `{"bwrapPath":"\ud83d\ude00"}`, `{"credentials":{"files":[]}}`, `{"ignoreViolations":{"*":["x"]}}`, `{/*`, `{"x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := parse("s.json", text)
		if err == nil {
			if file == nil {
				t.Fatal("neither a file nor an error")
			}
			for _, i := range file.present {
				if keys[i].Use == Never {
					t.Fatalf("%s was accepted", keys[i].Path)
				}
			}
			_ = file.Errorf("p", "h", "network", "allowedDomains", 0).Error()
			return
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("not an *Error: %v", err)
		}
		msg := e.Error()
		if !utf8.ValidString(msg) || strings.ContainsFunc(msg, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("not one printable line: %q", msg)
		}
		if len(msg) > 2000 {
			t.Fatalf("a message of %d bytes", len(msg))
		}
		if e.Line > 2+strings.Count(string(text), "\n") {
			t.Fatalf("line %d is not in the text", e.Line)
		}
	})
}

func BenchmarkParseSmall(b *testing.B) {
	text := []byte(`{"network": {"allowedDomains": ["example.com", "*.example.org"], "deniedDomains": []}, "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": ["."], "denyWrite": [".env"]}}`)
	for b.Loop() {
		if _, err := ParseLine(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse10000Domains(b *testing.B) {
	text := []byte(`{"network": {"allowedDomains": [` + strings.TrimSuffix(strings.Repeat(`"host.example.com",`, 10000), ",") + `]}}`)
	for b.Loop() {
		if _, err := ParseLine(text); err != nil {
			b.Fatal(err)
		}
	}
}
