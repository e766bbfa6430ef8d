package profile

import (
	"strings"
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

// widen gives the regex for every spelling of s that a volume may take for s: upper and lower case, composed, decomposed, and anything
// between (equivalent.go says which). Letters that fold to
// ASCII ones and characters that HFS+ skips are not spelt out: names with them cannot be created at all (oddCharacters).
func widen(s string) string { return spellings(s, false) }

// blur is widen for names that would become too long: a dot stands for every letter, which covers a little more.
func blur(s string) string { return spellings(s, true) }

func spellings(s string, blurred bool) string {
	var b strings.Builder
	for s != "" {
		expression, n := next(s, blurred)
		b.WriteString(expression)
		s = s[n:]
	}
	return b.String()
}

// next gives the expression for the first character of s, with its accents, or for the few that fold together; n is their length.
func next(s string, blurred bool) (expression string, n int) {
	for _, special := range []func(string) (string, int, bool){sharpS, withIota, joined, odd} {
		if expression, n, ok := special(s); ok {
			return expression, n
		}
	}
	n = clusterLen(s)
	switch {
	case n == 1 && isLetter(s[0]) && blurred:
		return ".", n
	case n == 1 && isLetter(s[0]):
		return "[" + string(s[0]|32) + string(s[0]&^32) + "]", n
	case n == 1:
		return exact(s[:1]), n
	}
	all, ok := variants(s[:n])
	switch {
	case ok:
		return oneOf(all), n
	case isLetter(s[0]):
		return "[" + string(s[0]|32) + string(s[0]&^32) + "]?" + otherRun, n
	case s[0] < utf8.RuneSelf:
		return exact(s[:1]) + "?" + otherRun, n
	}
	return otherRun, n
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

// oddCharacters are the characters by which a volume may take a new name for another one that the rules know.
var oddCharacters = []struct{ char, same, why string }{
	{"\u017f", "s", "long s folds to s"},
	{"\u212a", "k", "the Kelvin sign folds to k"},
	{"\u0149", "\u02bcn", "folds to two characters"},
	{"\u1e9a", "a\u02be", "folds to two characters"},
	{"\u037e", ";", "decomposes to ASCII"},
	{"\u1fef", "`", "decomposes to ASCII"},
	{"\ufb00", "ff", "a ligature folds to its letters"},
	{"\ufb01", "fi", "a ligature folds to its letters"},
	{"\ufb02", "fl", "a ligature folds to its letters"},
	{"\ufb03", "ffi", "a ligature folds to its letters"},
	{"\ufb04", "ffl", "a ligature folds to its letters"},
	{"\ufb05", "st", "a ligature folds to its letters"},
	{"\ufb06", "st", "a ligature folds to its letters"},
	{"\ufb13", "\u0574\u0576", "an Armenian ligature, the same"},
	{"\ufb14", "\u0574\u0565", "an Armenian ligature, the same"},
	{"\ufb15", "\u0574\u056b", "an Armenian ligature, the same"},
	{"\ufb16", "\u057e\u0576", "an Armenian ligature, the same"},
	{"\ufb17", "\u0574\u056d", "an Armenian ligature, the same"},
	{"\u200c", "", "HFS+ skips joiners"},
	{"\u200d", "", "HFS+ skips joiners"},
	{"\u200e", "", "HFS+ skips direction marks"},
	{"\u200f", "", "HFS+ skips direction marks"},
	{"\u202a", "", "HFS+ skips direction marks"},
	{"\u202b", "", "HFS+ skips direction marks"},
	{"\u202c", "", "HFS+ skips direction marks"},
	{"\u202d", "", "HFS+ skips direction marks"},
	{"\u202e", "", "HFS+ skips direction marks"},
	{"\u206a", "", "HFS+ skips format characters"},
	{"\u206b", "", "HFS+ skips format characters"},
	{"\u206c", "", "HFS+ skips format characters"},
	{"\u206d", "", "HFS+ skips format characters"},
	{"\u206e", "", "HFS+ skips format characters"},
	{"\u206f", "", "HFS+ skips format characters"},
	{"\ufeff", "", "HFS+ skips the byte order mark"},
}

func oddRegex() string {
	all := make([]string, len(oddCharacters))
	for i, o := range oddCharacters {
		all[i] = o.char
	}
	return "^/.*(" + strings.Join(all, "|") + ")"
}

// odd gives the expression for an odd character in a name of the policy: itself, if the name is there already, and what it is the same as.
func odd(s string) (expression string, n int, ok bool) {
	for _, o := range oddCharacters {
		switch {
		case !strings.HasPrefix(s, o.char) || clusterLen(s) != len(o.char):
		case o.same == "":
			return "(" + o.char + ")?", len(o.char), true
		default:
			return "(" + o.char + "|" + widen(o.same) + ")", len(o.char), true
		}
	}
	return "", 0, false
}
