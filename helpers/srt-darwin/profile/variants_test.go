package profile

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// variantsOf gives spellings that a volume takes for s, made without the code that is tested.
func variantsOf(s string) []string {
	var out []string
	for _, f := range []func(string) string{norm.NFC.String, norm.NFD.String, func(s string) string { return s }} {
		out = append(out, f(s), f(simple(s, unicode.ToUpper)), f(simple(s, unicode.ToLower)))
	}
	return out
}

// simple maps characters one by one, as case folding does; what folds to an ASCII letter is the business of oddCharacters.
func simple(s string, f func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		if m := f(r); (m < 0x80) == (r < 0x80) {
			return m
		}
		return r
	}, s)
}
