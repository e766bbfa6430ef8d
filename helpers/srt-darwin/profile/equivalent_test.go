package profile

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// volumeKey is the canonical caseless form, by another library than the code under test: APFS takes names with one key for the same.
func volumeKey(s string) string {
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(s)))
}

// respell gives a name with the same key, if the random changes have kept it.
func respell(r *rand.Rand, s string) string {
	changes := []func(string) string{
		norm.NFC.String, norm.NFD.String,
		func(s string) string { return each1(r, s, unicode.ToUpper) },
		func(s string) string { return each1(r, s, unicode.ToLower) },
		func(s string) string { return each1(r, s, unicode.SimpleFold) },
		func(s string) string { return pieces(r, s) },
		func(s string) string { return swapMarks(r, s) },
		func(s string) string { return replaceOne(r, s, digraphs) },
		func(s string) string { return replaceOne(r, s, singletons()) },
	}
	for range 1 + r.IntN(4) {
		s = pick(r, changes)(s)
	}
	return s
}

// digraphs fold to each other; the odd characters are left out, because no name with one can be made.
var digraphs = [][2]string{{"ss", "\u00df"}, {"\u00df", "ss"}, {"SS", "\u1e9e"}, {"\u1e9e", "sS"}, {"\u0565\u0582", "\u0587"}, {"\u0587", "\u0565\u0582"},
	{"\u03b9", "\u0345"}, {"\u0345", "\u03b9"}, {"\u1fb3", "\u03b1\u03b9"}, {"\u03b1\u03b9", "\u1fb3"}, {"\u1fbc", "\u0391\u0399"}, {"\u0399", "\u1fbe"}}

// singletons are single characters that decompose to another one, both ways.
var singletons = sync.OnceValue(func() [][2]string {
	var out [][2]string
	for r := rune(0x80); r < 0x2fa1e; r++ {
		if d := norm.NFD.String(string(r)); utf8.RuneCountInString(d) == 1 && d != string(r) {
			out = append(out, [2]string{d, string(r)})
		}
	}
	return out
})

func each1(r *rand.Rand, s string, f func(rune) rune) string {
	return strings.Map(func(c rune) rune {
		if r.IntN(2) == 0 {
			return f(c)
		}
		return c
	}, s)
}

// pieces composes and decomposes parts.
func pieces(r *rand.Rand, s string) string {
	runes := []rune(s)
	i := r.IntN(len(runes))
	j := i + 1 + r.IntN(len(runes)-i)
	form := norm.NFC
	if r.IntN(2) == 0 {
		form = norm.NFD
	}
	return string(runes[:i]) + form.String(string(runes[i:j])) + string(runes[j:])
}

func swapMarks(r *rand.Rand, s string) string {
	runes := []rune(s)
	if len(runes) < 2 {
		return s
	}
	i := r.IntN(len(runes) - 1)
	if unicode.Is(unicode.Mn, runes[i]) && unicode.Is(unicode.Mn, runes[i+1]) {
		runes[i], runes[i+1] = runes[i+1], runes[i]
	}
	return string(runes)
}

func replaceOne(r *rand.Rand, s string, table [][2]string) string {
	for range 50 {
		if p := pick(r, table); strings.Contains(s, p[0]) {
			return strings.Replace(s, p[0], p[1], 1)
		}
	}
	return s
}

var equivalentNames = []string{"config", "Hooks", "classless", "sss", "Straße", "Fußsohle", "maſs", "café", "ệậ", "ỗ\u0323x", "Å\u030a", "한글", "하\u11ab", "更新", "豈", "ΚΑΙ", "και", "ᾳ", "ᾴx", "ΌΤΑΝ", "ωι",
	"եւ", "և", "մեւ", "ﬁle", "ŉx", "\u1e61a", "İi", "ǅ", "Ω", "\u0344a", "\u1e9b\u0323", "q\u0307\u0323\u0306", "k;", "a`b", "naïve.txt", "の\u3099", "пё", "ЙЙ", "\u01f0", "κ\u0313\u0345", "αι\u0301"}

// TestEquivalentNames: the expression for a name matches every other name that the volume takes for it, and one that is not the same in
// ASCII never.
func TestEquivalentNames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	oddChars := regexp.MustCompile(strings.TrimPrefix(oddRegex(), "^/"))
	same, changed := 0, 0
	for _, name := range equivalentNames {
		for _, spell := range []func(string) string{widen, blur} {
			text := "^/" + spell(name) + "$"
			chars := regexp.MustCompile("(?s)" + text)
			j, err := sbpltest.Load("(version 1)(deny default)(allow file-read* (regex "+quote(t, text)+"))", sbpltest.MacOS14)
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			for range 400 {
				other := respell(r, name)
				if volumeKey(other) != volumeKey(name) || oddChars.MatchString("/"+other) && other != name || other == "" {
					continue
				}
				same++
				if other != name {
					changed++
				}
				bytes := j.Decide(sbpltest.OperationFirst, sbpltest.Query{Op: "file-read-data", Path: "/" + other}).Allow
				if !bytes || !chars.MatchString("/"+other) {
					t.Fatalf("%q (%+q) is not matched by the expression for %q (%+q): %s", other, other, name, name, text)
				}
			}
		}
	}
	if t.Logf("%d names, %d of them spelt otherwise", same, changed); changed < 5000 {
		t.Errorf("only %d names were spelt otherwise", changed)
	}
	for name, not := range map[string]string{"config": "configs", "café": "cafe", "更新": "更旧", "한글": "한국", "straße": "strase", "και": "κα", "ệ": "ê", "naïve": "naive"} {
		if regexp.MustCompile("^" + widen(name) + "$").MatchString(not) {
			t.Errorf("the expression for %q matches %q", name, not)
		}
	}
}

// FuzzEquivalent: whatever has the same key is matched.
func FuzzEquivalent(f *testing.F) {
	for _, s := range equivalentNames {
		f.Add(s, norm.NFD.String(s))
	}
	oddChars := regexp.MustCompile(strings.TrimPrefix(oddRegex(), "^/"))
	f.Fuzz(func(t *testing.T, name, other string) {
		if !utf8.ValidString(name) || !utf8.ValidString(other) || len(name) > 40 || len(other) > 60 || strings.ContainsAny(name+other, "/\x00") || name == "" || other == "" ||
			oddChars.MatchString("/"+other) || volumeKey(name) != volumeKey(other) {
			return
		}
		if !regexp.MustCompile("(?s)^" + widen(name) + "$").MatchString(other) {
			t.Fatalf("%+q is not matched by the expression for %+q: %s", other, name, widen(name))
		}
	})
}
