package hostmatch

import "strings"

// Pattern is one entry of a domain list. The zero value matches nothing.
type Pattern struct {
	text   string // as written
	host   Host   // exact host
	suffix string // ".example.com" of "*.example.com"
	any    bool   // "*", deny lists only
	port   uint16 // 0: every port
}

// ParsePattern reads an entry of allowedDomains: "host", "*.host" (strict subdomains, at least two labels behind the star, or
// "*.localhost"), an IPv4 address or an IPv6 address in brackets, each with an optional ":port". The error is a *SyntaxError.
func ParsePattern(s string) (Pattern, error) {
	return parse(s, false)
}

// ParseDenyPattern reads an entry of deniedDomains: as ParsePattern, and "*" or "*:port" for every host.
func ParseDenyPattern(s string) (Pattern, error) {
	return parse(s, true)
}

// String is the entry as written.
func (p Pattern) String() string { return p.text }

// Port is the port that the entry is limited to, 0 for every port.
func (p Pattern) Port() uint16 { return p.port }

// Host is the host of an exact entry, the zero Host for a wildcard.
func (p Pattern) Host() Host { return p.host }

// Match says whether the entry covers hp.
func (p Pattern) Match(hp HostPort) bool {
	if !hp.IsValid() || p.port != 0 && p.port != hp.Port {
		return false
	}
	switch {
	case p.any:
		return true
	case p.suffix != "":
		return !hp.Host.IsAddr() && len(hp.Host.name) > len(p.suffix) && strings.HasSuffix(hp.Host.name, p.suffix)
	default:
		return p.host.IsValid() && p.host == hp.Host
	}
}

// parse reads one entry; a suggestion survives only when following it leads to a valid entry.
func parse(s string, deny bool) (Pattern, error) {
	p, bad := parseEntry(s, deny)
	if bad == nil {
		return p, nil
	}
	bad.Text = s
	if _, worse := parseEntry(bad.Hint, deny); worse != nil {
		bad.Hint = ""
	}
	return Pattern{}, bad
}

func parseEntry(s string, deny bool) (Pattern, *SyntaxError) {
	if bad := notAnEntry(s); bad != nil {
		return Pattern{}, bad
	}
	host, port, at, err := splitPort(s)
	p := Pattern{text: s}
	if err == nil && at >= 0 {
		p.port, err = parsePort(s, port, at)
	}
	if err != nil {
		return Pattern{}, err.(*SyntaxError)
	}
	switch rest, wild := strings.CutPrefix(host, "*."); {
	case host == "*" && deny:
		p.any = true
		return p, nil
	case host == "*":
		return Pattern{}, &SyntaxError{Detail: `"*" would allow every host; it is for deniedDomains only`}
	case wild:
		h, err := ParseHost(rest)
		switch {
		case err != nil:
			return Pattern{}, shift(err, 2)
		case h.IsAddr():
			return Pattern{}, &SyntaxError{Pos: 2, Detail: "a wildcard does not go with an address"}
		case !strings.Contains(h.name, ".") && h.name != "localhost":
			return Pattern{}, &SyntaxError{Detail: "a wildcard needs at least two labels behind the star", Hint: "*.example." + h.name}
		}
		p.suffix = "." + h.name
		return p, nil
	}
	if i := strings.IndexByte(host, '*'); i >= 0 {
		return Pattern{}, &SyntaxError{Pos: i, Detail: `a star may only stand for the first labels, as in "*.example.com"`,
			Hint: s[strings.LastIndexByte(host, '*'):]}
	}
	if p.host, err = ParseHost(host); err != nil {
		return Pattern{}, shift(err, 0)
	}
	if a := p.host.addr; a.Is4() && host != a.String() { // one entry, one spelling: a list must mean what a reader sees
		return Pattern{}, &SyntaxError{Detail: "an address that is not spelt in its usual form", Hint: a.String() + s[len(host):]}
	}
	return p, nil
}

// notAnEntry names what people write around a host.
func notAnEntry(s string) *SyntaxError {
	if s == "" {
		return &SyntaxError{Detail: "the entry is empty"}
	}
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return &SyntaxError{Pos: i, Detail: "white space does not belong in an entry", Hint: strings.TrimSpace(s)}
	}
	if strings.Contains(s, "://") {
		return &SyntaxError{Detail: "a scheme is not part of an entry", Hint: bareHost(s)}
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return &SyntaxError{Pos: i, Detail: "a path is not part of an entry", Hint: bareHost(s)}
	}
	if i := strings.IndexByte(s, '@'); i >= 0 {
		return &SyntaxError{Pos: i, Detail: "user information is not part of an entry", Hint: bareHost(s)}
	}
	if s[0] != '[' && strings.Count(s, ":") >= 2 {
		bad := &SyntaxError{Pos: strings.IndexByte(s, ':'), Detail: "an IPv6 address needs brackets: without them its end and a port look the same"}
		if h, err := ParseHost(s); err == nil {
			bad.Hint = h.authority()
		}
		return bad
	}
	return nil
}

// bareHost drops what URLs have around the host.
func bareHost(s string) string {
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	return s[strings.LastIndexByte(s, '@')+1:]
}

// shift moves the position of a mistake in a part of the entry.
func shift(err error, by int) *SyntaxError {
	bad := err.(*SyntaxError)
	return &SyntaxError{Pos: bad.Pos + by, Detail: bad.Detail}
}
