package profile

import "strings"

// charset is the meaning of "[…]": bytes, without regard to case.
type charset [256]bool

// parseSet reads "[…]" at the start of text and gives its length. pathrule has accepted it before.
func parseSet(text string) (*charset, int) {
	var set charset
	text = strings.ToLower(text) // as names are compared
	i := 1
	negate := text[i] == '!' || text[i] == '^'
	if negate {
		i++
	}
	for first := true; i < len(text); first = false {
		if text[i] == ']' && !first {
			i++
			break
		}
		if name, _, ok := strings.Cut(text[i:], ":]"); ok && strings.HasPrefix(name, "[:") && classes[name[2:]] != "" {
			set.addRanges(classes[name[2:]])
			i += len(name) + 2
			continue
		}
		lo, n := setByte(text[i:])
		i += n
		hi := lo
		if i+1 < len(text) && text[i] == '-' && text[i+1] != ']' {
			hi, n = setByte(text[i+1:])
			i += n + 1
		}
		for b := int(lo); b <= int(hi); b++ {
			set[b] = true
		}
	}
	set.finish(negate)
	return &set, i
}

func setByte(text string) (byte, int) {
	if text[0] == '\\' && len(text) > 1 {
		return text[1], 2
	}
	return text[0], 1
}

// finish folds the case and takes the complement.
func (s *charset) finish(negate bool) {
	for b := byte('a'); b <= 'z'; b++ {
		s[b] = s[b] || s[b&^32]
		s[b&^32] = s[b]
	}
	if negate {
		for b := range s {
			s[b] = !s[b]
		}
	}
	s['/'], s[0] = false, false
}

func (s *charset) addRanges(ranges string) {
	for i := 0; i < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			s[b] = true
		}
	}
}

// classes are the POSIX classes as pairs of first and last byte.
var classes = map[string]string{
	"alpha":  "azAZ",
	"digit":  "09",
	"alnum":  "azAZ09",
	"upper":  "AZ",
	"lower":  "az",
	"space":  "  \t\r",
	"blank":  "  \t\t",
	"punct":  "!/:@[`{~",
	"xdigit": "09afAF",
	"cntrl":  "\x01\x1f\x7f\x7f",
	"graph":  "!~",
	"print":  " ~",
}

// regex spells the set in the small language of ranges: what a bracket expression cannot hold safely becomes an alternative.
func (s *charset) regex() string {
	var ranges, singles []string
	for b := byte(' '); b <= '~'; b++ {
		if !s[b] {
			continue
		}
		if strings.IndexByte(`[]\^-`, b) >= 0 {
			singles = append(singles, exact(string(b)))
			continue
		}
		end := b
		for e := b; e <= '~' && s[e]; e++ {
			if strings.IndexByte(`[]\^-`, e) < 0 {
				end = e
			}
		}
		switch {
		case end == b:
			ranges = append(ranges, string(b))
		default:
			ranges = append(ranges, string(b)+"-"+string(end))
		}
		b = end
	}
	if len(ranges) > 0 {
		singles = append([]string{"[" + strings.Join(ranges, "") + "]"}, singles...)
	}
	for b := range s {
		if s[b] && (b < ' ' || b > '~') {
			singles = append(singles, otherRun)
			break
		}
	}
	switch len(singles) {
	case 0:
		return "[^ -~]/" // matches no name
	case 1:
		return singles[0]
	}
	return "(" + strings.Join(singles, "|") + ")"
}
