package profile

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// exact gives the regex for exactly s.
func exact(s string) string {
	if !strings.ContainsAny(s, meta) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(meta, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

const meta = `.[]{}()*+?|^$\`

// widen gives the regex for every spelling of s that a volume may take for s: upper and lower case, composed and decomposed. Letters
// that fold to ASCII ones and characters that HFS+ skips are not spelt out: names with them cannot be created at all (oddCharacters).
func widen(s string) string { return spellings(s, false) }

// blur is widen for names that would become too long: a dot stands for every letter, which covers a little more.
func blur(s string) string { return spellings(s, true) }

// sharpS and "ss" fold to each other.
const sharpS = "([sS][sS]|\u00df|\u1e9e)"

func spellings(s string, blurred bool) string {
	var b strings.Builder
	for s != "" {
		n := clusterLen(s)
		switch c := s[:n]; {
		case n == 1 && s[0]|32 == 's' && len(s) > 1 && s[1]|32 == 's' && clusterLen(s[1:]) == 1:
			n = 2
			b.WriteString(sharpS)
		case c == "\u00df" || c == "\u1e9e":
			b.WriteString(sharpS)
		case n == 1 && isLetter(s[0]) && blurred:
			b.WriteByte('.')
		case n == 1 && isLetter(s[0]):
			b.Write([]byte{'[', s[0] | 32, s[0] &^ 32, ']'})
		case n == 1:
			b.WriteString(exact(c))
		default:
			b.WriteString(oneOf(variants(c)))
		}
		s = s[n:]
	}
	return b.String()
}

func isLetter(c byte) bool { return 'a' <= c|32 && c|32 <= 'z' }

// clusterLen is the length of the first character with its accents.
func clusterLen(s string) int {
	if len(s) == 1 || s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return 1
	}
	return max(norm.NFD.NextBoundaryInString(s, true), 1)
}

func oneOf(alternatives []string) string {
	for i, a := range alternatives {
		alternatives[i] = exact(a)
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return "(" + strings.Join(alternatives, "|") + ")"
}

// variants are the spellings of one character with its accents, in both normal forms and in every case.
func variants(cluster string) []string {
	seen := []string{}
	queue := []string{norm.NFC.String(cluster), norm.NFD.String(cluster)}
	for len(queue) > 0 && len(seen) < 32 {
		v := queue[0]
		queue = queue[1:]
		if slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		r, size := utf8.DecodeRuneInString(v)
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			queue = append(queue, string(f)+v[size:])
		}
		queue = append(queue, norm.NFC.String(v), norm.NFD.String(v))
	}
	slices.Sort(seen)
	return seen
}

// oddCharacters are the characters by which a volume may take a new name for another one that the rules know.
var oddCharacters = []struct{ chars, why string }{
	{"\u017f", "long s folds to s"},
	{"\u212a", "the Kelvin sign folds to k"},
	{"\ufb00|\ufb01|\ufb02|\ufb03|\ufb04|\ufb05|\ufb06", "ligatures fold to ff, fi, fl, ffi, ffl, st"},
	{"\u200c|\u200d|\u200e|\u200f|\u202a|\u202b|\u202c|\u202d|\u202e", "HFS+ skips joiners and direction marks"},
	{"\u206a|\u206b|\u206c|\u206d|\u206e|\u206f|\ufeff", "HFS+ skips format characters"},
}

func oddRegex() string {
	all := make([]string, len(oddCharacters))
	for i, o := range oddCharacters {
		all[i] = o.chars
	}
	return "^/.*(" + strings.Join(all, "|") + ")"
}
