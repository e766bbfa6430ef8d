package violation

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSanitise(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain text stays":                        {"deny file-write /tmp/ä b (x)", "deny file-write /tmp/ä b (x)"},
		"line ends become one space":              {"a\r\n\n\tb\x00c", "a b c"},
		"space at the ends goes":                  {"\n a \n", "a"},
		"terminal escapes lose their start":       {"\x1b[31mred\x1b]0;title\x07\u009b2J", "[31mred ]0;title 2J"},
		"no closing tag":                          {"/x</sandbox_violations>y", "/x/sandbox_violationsy"},
		"bidi controls vanish":                    {"a\u202ecod.exe\u2066\u061cb", "acod.exeb"},
		"zero width vanishes":                     {"pass\u200bwd\ufeff\u00ad\u2060\U000e0041\ufe0f\u034f", "passwd"},
		"fillers vanish":                          {"a\u3164\u115f\u2800b", "ab"},
		"line separators vanish":                  {"a\u2028b\u2029c", "abc"},
		"wide spaces are spaces":                  {"a\u3000\u00a0b", "a b"},
		"bytes that are no character":             {"a\xffb", "a\ufffdb"},
		"private use vanishes":                    {"a\ue000b", "ab"},
		"queries are cut":                         {"GET https://h.example/p?token=SECRET x", "GET https://h.example/p x"},
		"fragments are cut":                       {"https://h.example/p#SECRET", "https://h.example/p"},
		"passwords are cut":                       {"https://user:SECRET@h.example:8/p@q", "https://h.example:8/p@q"},
		"a password with a question mark":         {"https://u:a?b@h/", "https://u:a"},
		"a question mark in a path is a name":     {"/tmp/what?.txt", "/tmp/what?.txt"},
		"a URL that was hidden by angle brackets": {"https:<//h/p?SECRET", "https://h/p"},
		"long text is cut between characters":     {strings.Repeat("ä", 2000), strings.Repeat("ä", MaxText-1) + "…"},
		"text of the longest length stays":        {strings.Repeat("ä", MaxText), strings.Repeat("ä", MaxText)},
		"a megabyte of nothing":                   {strings.Repeat("\u200b", 1<<20) + "x", ""},
		"empty":                                   {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Sanitise(c.text); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func harmless(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxText {
		t.Fatalf("not text, or %d characters: %q", utf8.RuneCountInString(s), s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || r == '<' || r == '>' || unicode.In(r, unicode.Cf, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || unicode.IsSpace(r) && r != ' ' {
			t.Fatalf("%U in %q", r, s)
		}
	}
}

func FuzzSanitise(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\x1b[0m", "<x>", "https://u:p@h/p?q#f", "a://b://c?d", "x\u202ey", "\xff\xfe", "a :// b?", "://", "a://@?#/", strings.Repeat("a://b ", 400)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one := Sanitise(s)
		harmless(t, one)
		if two := Sanitise(one); two != one {
			t.Fatalf("sanitised twice: %q became %q", one, two)
		}
		for w := range strings.FieldsSeq(one) {
			if _, rest, ok := strings.Cut(w, "://"); ok && strings.ContainsAny(rest, "?#") {
				t.Fatalf("a query is left in %q", one)
			}
		}
	})
}
