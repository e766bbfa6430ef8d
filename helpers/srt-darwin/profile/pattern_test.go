package profile

import (
	"regexp"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// matcher gives what a pattern's regex matches, by an engine that counts bytes and by one that counts characters.
func matcher(t *testing.T, p pattern, parts []segment, base string) (bytes, chars func(string) bool) {
	t.Helper()
	text := "^" + exact(strings.TrimSuffix(base, "/")) + "/" + regex(parts, widen) + "$"
	j, err := sbpltest.Load("(version 1)(deny default)(allow file-read* (regex "+quote(t, text)+"))", sbpltest.MacOS14)
	if err != nil {
		t.Fatalf("pattern %+v: %v", p, err)
	}
	re, err := regexp.Compile("(?s)" + text)
	if err != nil {
		t.Fatalf("pattern %+v: %v", p, err)
	}
	return func(path string) bool {
		return j.Decide(sbpltest.OperationFirst, sbpltest.Query{Op: "file-read-data", Path: path}).Allow
	}, re.MatchString
}

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := sbpl.Append(nil, sbpl.Str(s))
	if err != nil {
		t.Skip("cannot be written, which Generate refuses")
	}
	return string(b)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// FuzzPattern: the regex of a pattern matches whatever the pattern does, and in ASCII nothing else.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{"/w/**/.env", "/w/a/.ENV"}, {"/w/*.pem", "/w/a.pem"}, {"/w/[!a-c]?", "/w/dx"}, {"/w/a/**", "/w/a/b/c"}, {"/**/k", "/k"},
		{"/w/[]a-]", "/w/]"}, {`/w/\*[^[:alpha:]\]]`, "/w/*1"}, {"/w/[a\\-z]", "/w/-"}, {"/w/a**b/***/c", "/w/axb/c"}, {"/w/?é", "/w/üÉ"}, {"/w/[^é]x", "/w/ax"}, {"/w/ss*", "/w/SSx"}, {"/w/[ -~]", "/w/^"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		g, err := pathrule.ParseGlobFold(text)
		if err != nil || !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.HasSuffix(path, "/") || strings.IndexByte(path, 0) >= 0 {
			return
		}
		p := parsePattern(g)
		base := p.base
		if !strings.HasPrefix(path, base) {
			return
		}
		bytes, chars := matcher(t, p, p.parts, base)
		want := g.Match(path)
		switch {
		case want && !bytes(path):
			t.Fatalf("%q matches %q, its regex does not", text, path)
		case isASCII(text) && isASCII(path) && want != bytes(path):
			t.Fatalf("the regex of %q matches %q, the pattern does not", text, path)
		case isASCII(text) && isASCII(path) && want != chars(path):
			t.Fatalf("%q on %q depends on what the engine counts", text, path)
		}
	})
}

// FuzzBelow: what a pattern can match below a directory is the same as what it matches there.
func FuzzBelow(f *testing.F) {
	for _, s := range [][3]string{{"/w/**/.env", "/w/a", "b/.env"}, {"/w/*/k", "/w/a", "k"}, {"/**/a/**/b", "/x/a", "c/b"}, {"/w/a/**", "/w/a", "b"}, {"/w/.env/**/.env", "/w/.env", ".env"}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text, dir, rest string) {
		g, err := pathrule.ParseGlobFold(text)
		clean := func(s string) bool {
			return s != "" && !strings.Contains(s, "//") && !strings.HasSuffix(s, "/") && isASCII(s)
		}
		if err != nil || !isASCII(text) || !clean(dir) || !clean(rest) || dir[0] != '/' || rest[0] == '/' {
			return
		}
		p := parsePattern(g)
		got := false
		for _, parts := range p.below(dir) {
			bytes, _ := matcher(t, p, parts, dir)
			got = got || bytes(dir+"/"+rest)
		}
		if want := g.Match(dir + "/" + rest); got != want {
			t.Fatalf("%q below %q on %q: %v, want %v", text, dir, rest, got, want)
		}
	})
}

// FuzzWiden: every spelling is matched in the exact form, in capitals, small letters and both normal forms.
func FuzzWiden(f *testing.F) {
	for _, s := range []string{"Straße", "café", "a.b[c]", "ss\u0301", "SSss", "ǅ", "ﬁ", "İ", "Ω", "\u1e9e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || sbpl.CheckString(s) != nil || len(s) > 60 {
			return
		}
		for _, spell := range []func(string) string{widen, blur} {
			re, err := regexp.Compile("(?s)^" + spell(s) + "$")
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			for _, v := range variantsOf(s) {
				if !re.MatchString(v) {
					t.Fatalf("%q does not match %q (%s)", s, v, spell(s))
				}
			}
		}
	})
}
