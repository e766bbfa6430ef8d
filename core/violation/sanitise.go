package violation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of stored texts, in characters.
const (
	MaxText   = 1000
	MaxReason = 500
)

// Sanitise gives text as one line of at most MaxText characters that shows what it says: control characters become a space, what turns
// the direction of text or has no width vanishes, so do angle brackets (they would end an embedder's block), and URLs lose password,
// query and fragment. Bytes that are no character become U+FFFD. Sanitising twice changes nothing more.
func Sanitise(text string) string { return bounded(text, MaxText) }

func bounded(text string, most int) string {
	if cut := 16 * most; len(text) > cut { // no need to read a megabyte for a line
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return shorten(stripURLs(printable(text)), most)
}

func printable(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := true // leading space is dropped too
	for _, r := range text {
		switch {
		case r == '<' || r == '>' || invisible(r):
			continue
		case unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Zs):
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ")
}

// invisible are characters that show nothing, or change what others show.
func invisible(r rune) bool {
	if r < 0x80 {
		return false
	}
	switch {
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	case r >= 0xE0000 && r <= 0xE0FFF: // tags and their unassigned neighbours
		return true
	case r == 0x2800 || r >= 0xFFF0 && r <= 0xFFFB: // blank Braille, specials below U+FFFD
		return true
	}
	return unicode.In(r, unicode.Co, unicode.Cs)
}

// stripURLs cuts from every URL what may hold a secret.
func stripURLs(line string) string {
	if !strings.Contains(line, "://") {
		return line
	}
	words := strings.Split(line, " ")
	for i, w := range words {
		scheme, rest, found := strings.Cut(w, "://")
		if !found {
			continue
		}
		if end := strings.IndexAny(rest, "?#"); end >= 0 {
			rest = rest[:end]
		}
		host, path, hasPath := strings.Cut(rest, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		words[i] = scheme + "://" + host
		if hasPath {
			words[i] += "/" + path
		}
	}
	return strings.Join(words, " ")
}

func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}
