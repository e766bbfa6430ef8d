package profile

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The rule by which APFS takes two names for one, where it ignores case: the canonical caseless form of Unicode (bsd/vfs/vfs_unicode.c
// of xnu): both are decomposed, each character is folded in full, accents are put in order.

const (
	// maxMarks bounds how many accents of one character are spelt in every order; with more any character stands for them.
	maxMarks = 3
	// maxVariants bounds the spellings of one character.
	maxVariants = 40
	iotaBelow   = 0x345 // an accent that folds to a letter of its own
	iota        = 0x3b9
)

// composed lists the single characters that decompose, by the first character of what they decompose to.
var composed = sync.OnceValue(func() map[rune][]string {
	const last = 0x2fa1d // the last compatibility ideograph
	out := map[rune][]string{}
	for r := rune(0x80); r <= last; r++ {
		if 0xac00 <= r && r <= 0xd7a3 { // Hangul, which is composed by rule
			continue
		}
		s := string(r)
		if d := norm.NFD.String(s); d != s {
			first, _ := utf8.DecodeRuneInString(d)
			out[first] = append(out[first], s)
		}
	}
	return out
})

// variants are the spellings of one character with its accents that a volume may take for the same. ok is false when there are too many.
func variants(cluster string) (_ []string, ok bool) {
	decomposed := []rune(norm.NFD.String(cluster))
	if len(decomposed) > 1+maxMarks || slices.Contains(decomposed[1:], iotaBelow) {
		return nil, false
	}
	var out []string
	for _, r := range orbit(decomposed[0]) {
		out = append(out, equivalents(append([]rune{r}, decomposed[1:]...))...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out, len(out) <= maxVariants
}

// orbit gives the characters that r folds together with, one by one.
func orbit(r rune) []rune {
	out := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, []rune(norm.NFD.String(string(f)))[0])
	}
	return out
}

// equivalents gives every text that decomposes to want, which is decomposed itself: composed in part or in whole, with accents in any
// order that means the same.
func equivalents(want []rune) []string {
	if len(want) == 0 {
		return []string{""}
	}
	whole := norm.NFD.String(string(want))
	var out []string
	try := func(first string) {
		rest, ok := without(want, []rune(norm.NFD.String(first)))
		if !ok {
			return
		}
		for _, tail := range equivalents(rest) {
			if s := first + tail; norm.NFD.String(s) == whole {
				out = append(out, s)
			}
		}
	}
	for _, r := range want {
		try(string(r))
		for _, c := range composed()[r] {
			try(c)
		}
	}
	for n := 2; n <= min(3, len(want)); n++ {
		if c := norm.NFC.String(string(want[:n])); utf8.RuneCountInString(c) == 1 {
			try(c) // Hangul
		}
	}
	return out
}

// without takes parts out of list, each once.
func without(list, parts []rune) ([]rune, bool) {
	rest := slices.Clone(list)
	for _, p := range parts {
		i := slices.Index(rest, p)
		if i < 0 {
			return nil, false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return rest, true
}

// withIota gives the expression for a character that a Greek iota follows, or that has one below: the one folds to the other. ok is
// false when s does not begin so; n is how much of s it does.
func withIota(s string) (expression string, n int, ok bool) {
	n = clusterLen(s)
	decomposed := []rune(norm.NFD.String(s[:n]))
	below := slices.Index(decomposed, iotaBelow)
	next := ""
	if n < len(s) {
		next = s[n : n+clusterLen(s[n:])]
	}
	folds := slices.Contains(orbit(firstRune(next)), iota) && utf8.RuneCountInString(next) == 1
	switch {
	case below > 0:
		decomposed = slices.Delete(decomposed, below, below+1)
	case folds && s[0] >= utf8.RuneSelf:
		n += len(next)
	default:
		return "", 0, false
	}
	apart, known := variants(string(decomposed))
	one := [][]string{}
	for _, r := range orbit(decomposed[0]) {
		one = append(one, equivalents(append(append([]rune{r}, decomposed[1:]...), iotaBelow)))
	}
	together := slices.Concat(one...)
	if !known || len(together) > maxVariants {
		return otherRun, n, true
	}
	letters, _ := variants(string(rune(iota)))
	return "(" + oneOf(apart) + oneOf(letters) + "|" + oneOf(together) + ")", n, true
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// sharpS gives the expression for a run of "s" that begins in s: two of them and ß fold to each other.
func sharpS(s string) (expression string, n int, ok bool) {
	count := 0
	for n < len(s) {
		size := clusterLen(s[n:])
		letters := map[string]int{"s": 1, "S": 1, "\u017f": 1, "\u00df": 2, "\u1e9e": 2}[s[n:n+size]]
		if letters == 0 {
			break
		}
		n, count = n+size, count+letters
	}
	if count < 2 {
		return "", 0, false
	}
	if count == 2 && !strings.Contains(s[:n], "\u017f") {
		return "([sS][sS]|\u00df|\u1e9e)", n, true
	}
	return "([sS]|\u017f|\u00df|\u1e9e)+", n, true
}

// armenianEw folds to two letters, ech and yiwn.
const armenianEw = "\u0587"

// joined gives the expression for the Armenian pair, which is written as one letter too.
func joined(s string) (expression string, n int, ok bool) {
	for _, pair := range []string{armenianEw, "\u0565\u0582", "\u0535\u0552", "\u0565\u0552", "\u0535\u0582"} {
		if strings.HasPrefix(s, pair) && clusterLen(s[len(pair)-2:]) == 2 {
			return "((\u0565|\u0535)(\u0582|\u0552)|" + armenianEw + ")", len(pair), true
		}
	}
	return "", 0, false
}
