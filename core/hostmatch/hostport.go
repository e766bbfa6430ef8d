package hostmatch

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// HostPort is one destination in canonical form. The zero value is no destination and matches nothing.
type HostPort struct {
	Host Host
	Port uint16 // 1..65535
}

// ParseHostPort reads "host:port" or "[v6]:port", and, when defaultPort is not 0, a host without port. It is the only reader of an
// authority: user information, percent escapes, paths, spaces and ports with leading zeros are refused. The error is a *SyntaxError.
func ParseHostPort(s string, defaultPort uint16) (HostPort, error) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 { // the text may hold a password: it is not shown
		return HostPort{}, &SyntaxError{Text: "…" + s[i:], Detail: "user information is not part of a destination"}
	}
	host, port, at, err := splitPort(s)
	if err != nil {
		return HostPort{}, err
	}
	p := defaultPort
	switch {
	case at >= 0:
		if p, err = parsePort(s, port, at); err != nil {
			return HostPort{}, err
		}
	case defaultPort == 0:
		return HostPort{}, &SyntaxError{Text: s, Pos: len(s), Detail: "the port is missing"}
	}
	if !strings.HasPrefix(host, "[") && strings.Contains(host, ":") {
		return HostPort{}, &SyntaxError{Text: s, Pos: strings.IndexByte(host, ':'), Detail: "an IPv6 address needs brackets"}
	}
	h, err := ParseHost(host)
	if err != nil {
		se := err.(*SyntaxError)
		return HostPort{}, &SyntaxError{Text: s, Pos: se.Pos, Detail: se.Detail, Hint: se.Hint}
	}
	return HostPort{Host: h, Port: p}, nil
}

// FromAddrPort gives the destination of an address and a port.
func FromAddrPort(a netip.AddrPort) HostPort {
	return HostPort{Host: FromAddr(a.Addr()), Port: a.Port()}
}

// IsValid says whether hp names a host and a port.
func (hp HostPort) IsValid() bool { return hp.Host.IsValid() && hp.Port != 0 }

// String is the canonical "host:port", IPv6 in brackets: what is shown, reported and sent upstream.
func (hp HostPort) String() string {
	return hp.Host.authority() + ":" + strconv.Itoa(int(hp.Port))
}

// splitPort cuts s at the colon that starts a port. at is the offset of the port, -1 when there is none.
func splitPort(s string) (host, port string, at int, err error) {
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", -1, &SyntaxError{Text: s, Pos: len(s), Detail: "the bracket of the IPv6 address is not closed"}
		}
		switch rest := s[end+1:]; {
		case rest == "":
			return s, "", -1, nil
		case rest[0] == ':':
			return s[:end+1], rest[1:], end + 2, nil
		}
		return "", "", -1, &SyntaxError{Text: s, Pos: end + 1, Detail: "only a port may follow the bracket"}
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		return s[:i], s[i+1:], i + 1, nil
	}
	return s, "", -1, nil
}

// parsePort accepts 1..65535 without leading zeros: a second reader of the same text could see another port otherwise.
func parsePort(whole, port string, at int) (uint16, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '0' || port[0] == '+' {
		return 0, &SyntaxError{Text: whole, Pos: at, Detail: fmt.Sprintf("port %q is not a number from 1 to 65535", port)}
	}
	return uint16(n), nil
}
