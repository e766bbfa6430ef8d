package hostmatch

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Bounds of a DNS name in its ASCII form, in bytes (RFC 1035, without the root dot).
const (
	maxName  = 253
	maxLabel = 63
)

// Host is one destination host in canonical form: a DNS name or an address. The zero value is no host and matches nothing.
// Two hosts are the same destination exactly when they are equal with ==.
type Host struct {
	name string
	addr netip.Addr
}

// ParseHost reads a host as it stands in a URL, a CONNECT line or a SOCKS request: a name, an IPv4 address in any spelling, or an IPv6
// address with or without brackets. The error is always a *SyntaxError.
func ParseHost(s string) (Host, error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return Host{}, &SyntaxError{Text: s, Pos: len(s), Detail: "the bracket of the IPv6 address is not closed"}
		}
		return parseIPv6(s, inner, 1)
	}
	if strings.Count(s, ":") >= 2 {
		return parseIPv6(s, s, 0)
	}
	return parseName(s)
}

// FromAddr gives the host of an address: IPv4-mapped addresses become IPv4, a zone is dropped.
// An invalid address gives the zero Host.
func FromAddr(a netip.Addr) Host {
	return Host{addr: a.Unmap().WithZone("")}
}

// IsValid says whether h is a host at all.
func (h Host) IsValid() bool { return h.name != "" || h.addr.IsValid() }

// IsAddr says whether h is an address and not a name.
func (h Host) IsAddr() bool { return h.addr.IsValid() }

// Addr is the address, or the zero netip.Addr when h is a name. It is never IPv4-mapped and has no zone.
func (h Host) Addr() netip.Addr { return h.addr }

// Name is the DNS name in lower-case ASCII without trailing dot, or "" when h is an address.
func (h Host) Name() string { return h.name }

// IsLocalhost says whether h is the name "localhost" or below it (RFC 6761).
func (h Host) IsLocalhost() bool {
	return h.name == "localhost" || strings.HasSuffix(h.name, ".localhost")
}

// String is the canonical text: the name, the IPv4 address, or the IPv6 address without brackets.
func (h Host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// authority is the host as it stands in front of a port.
func (h Host) authority() string {
	if h.addr.Is6() {
		return "[" + h.addr.String() + "]"
	}
	return h.String()
}

// parseIPv6 reads inner, which starts at offset at of the whole text.
func parseIPv6(whole, inner string, at int) (Host, error) {
	if i := strings.IndexByte(inner, '%'); i >= 0 {
		return Host{}, &SyntaxError{Text: whole, Pos: at + i, Detail: "a zone identifier is not part of an address that can be judged"}
	}
	a, err := netip.ParseAddr(inner)
	if err != nil || !a.Is6() {
		return Host{}, &SyntaxError{Text: whole, Pos: at, Detail: "not an IPv6 address"}
	}
	return FromAddr(a), nil
}

// parseName reads a name or an IPv4 address.
func parseName(s string) (Host, error) {
	ascii, err := toASCII(s)
	if err != nil {
		return Host{}, err
	}
	name := strings.TrimSuffix(ascii, ".")
	if err := checkName(s, name); err != nil {
		return Host{}, err
	}
	if !endsInNumber(name) {
		return Host{name: name}, nil
	}
	a, ok := parseIPv4(name)
	if !ok {
		return Host{}, &SyntaxError{Text: s, Pos: strings.LastIndexByte(name, '.') + 1, Detail: "the last label is a number, but the whole is not an IPv4 address"}
	}
	return Host{addr: a}, nil
}

// toASCII gives the lower-case ASCII form of s.
func toASCII(s string) (string, error) {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii, err := lookupProfile().ToASCII(s)
			if !utf8.ValidString(s) || err != nil {
				return "", &SyntaxError{Text: s, Pos: i, Detail: "not a valid internationalised name"}
			}
			return strings.ToLower(ascii), nil
		}
	}
	return strings.ToLower(s), nil
}

// lookupProfile maps as a browser does before it asks the resolver; the result goes through checkName like any other name.
var lookupProfile = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.StrictDomainName(false))
})

// checkName refuses what is not a DNS name of letters, digits, hyphens and underscores. Positions are those of the whole text when it
// is ASCII, which is when they can be told.
func checkName(whole, name string) error {
	if name == "" {
		return &SyntaxError{Text: whole, Detail: "the host is empty"}
	}
	if len(name) > maxName {
		return &SyntaxError{Text: whole, Pos: maxName, Detail: fmt.Sprintf("a name of more than %d bytes", maxName)}
	}
	label := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '.' && i == label:
			return &SyntaxError{Text: whole, Pos: i, Detail: "an empty label"}
		case c == '.':
			label = i + 1
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_':
			if i-label >= maxLabel {
				return &SyntaxError{Text: whole, Pos: i, Detail: fmt.Sprintf("a label of more than %d bytes", maxLabel)}
			}
		default:
			return &SyntaxError{Text: whole, Pos: i, Detail: fmt.Sprintf("character %q does not belong in a host", c)}
		}
	}
	if label == len(name) {
		return &SyntaxError{Text: whole, Pos: label, Detail: "an empty label"}
	}
	return nil
}

// Parent is the name without its first label; false when h is an address or has one label.
func (h Host) Parent() (Host, bool) {
	_, rest, ok := strings.Cut(h.name, ".")
	return Host{name: rest}, ok
}
