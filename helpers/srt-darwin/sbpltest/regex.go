package sbpltest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

func regexFilter(args []sbpl.Node, _ string) (filter, error) {
	s, err := text(args)
	if err != nil {
		return nil, err
	}
	re, err := compileRegex(s)
	if err != nil {
		return nil, err
	}
	return func(q *Query) bool { return q.Path != "" && re.MatchString(byteRunes(q.Path)) }, nil
}

// compileRegex accepts the small language that Seatbelt's engine and every other one read alike, anchored at the start. Bytes are
// matched one by one.
func compileRegex(s string) (*regexp.Regexp, error) {
	bad := func(why string) (*regexp.Regexp, error) { return nil, fmt.Errorf("regex %q: %s", s, why) }
	if !strings.HasPrefix(s, "^/") {
		return bad("does not begin at the root")
	}
	before := byte('(') // what stands before the current byte, "(" where an expression begins
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			i++
			if i == len(s) || symbolOrSpace(s[i]) {
				return bad("an escape that is not of punctuation")
			}
			c = 'x'
		case '[':
			end := strings.IndexByte(s[i+1:], ']')
			if set := strings.TrimPrefix(s[i+1:][:max(end, 0)], "^"); set == "" || strings.ContainsAny(set, `[\^`) {
				return bad("a set that readers may differ on")
			}
			i += end + 1
			c = 'x'
		case '^', '{', '}', ']':
			return bad(fmt.Sprintf("unexpected %c operator in middle of expression", c))
		case '$':
			if i != len(s)-1 {
				return bad("unexpected $ operator in middle of expression")
			}
		case '*', '+', '?', '|', ')':
			if strings.IndexByte("(|*+?", before) >= 0 && (c != '|' && c != ')' || before == '(' || before == '|') {
				return bad(fmt.Sprintf("%c has nothing to work on", c))
			}
		}
		before = c
	}
	return regexp.Compile("(?s)" + byteRunes(s))
}

func symbolOrSpace(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c <= ' ' || c >= 0x7f
}

// byteRunes makes a text whose characters are the bytes of s.
func byteRunes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}
