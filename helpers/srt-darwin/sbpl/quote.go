package sbpl

import (
	"fmt"
	"unicode/utf8"
)

// MaxString bounds a string literal as it stands in the profile, without its quotes, in bytes. sandbox-exec refuses a whole profile
// for one string of a little over 1,024.
const MaxString = 1000

// CheckString says why s cannot be a string of a profile. Only `"` and `\` are ever escaped, each by one backslash: all readers agree
// on those. Control characters would need an escape that not every reader knows (\u is read as text), and a name that is not UTF-8
// cannot exist on APFS.
func CheckString(s string) error {
	n := len(s)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return fmt.Errorf("%q is not valid UTF-8", s)
		case r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029:
			return fmt.Errorf("%q holds the control character %U", s, r)
		case r == '"' || r == '\\':
			n++
		}
		i += size
	}
	if n > MaxString {
		return fmt.Errorf("%d bytes in a profile, which takes at most %d", n, MaxString)
	}
	return nil
}

// Len is the length of s as it stands in a profile, without its quotes.
func Len(s string) int {
	n := len(s)
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			n++
		}
	}
	return n
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
