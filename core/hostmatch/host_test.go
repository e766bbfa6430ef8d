package hostmatch

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a name":                              {"example.com", "example.com"},
		"upper case":                          {"ExAmple.COM", "example.com"},
		"one trailing dot":                    {"example.com.", "example.com"},
		"underscores and hyphens":             {"_srv.a-b.example", "_srv.a-b.example"},
		"a single label":                      {"registry", "registry"},
		"a digit label that is not the last":  {"1.2.example", "1.2.example"},
		"letters and digits at the end":       {"example.0a", "example.0a"},
		"an international name":               {"bücher.example", "xn--bcher-kva.example"},
		"an international name in upper case": {"BÜCHER.example", "xn--bcher-kva.example"},
		"an ideographic full stop":            {"bücher。example", "xn--bcher-kva.example"},
		"the sharp s keeps its own name":      {"straße.example", "xn--strae-oqa.example"},
		"full-width digits are an address":    {"１２７.0.0.1", "127.0.0.1"},
		"dotted quad":                         {"10.99.0.3", "10.99.0.3"},
		"dotted quad with trailing dot":       {"10.99.0.3.", "10.99.0.3"},
		"decimal":                             {"2130706433", "127.0.0.1"},
		"hexadecimal":                         {"0x7f000001", "127.0.0.1"},
		"hexadecimal in upper case":           {"0X7F000001", "127.0.0.1"},
		"octal part":                          {"0177.0.0.1", "127.0.0.1"},
		"two parts":                           {"127.1", "127.0.0.1"},
		"three parts":                         {"10.99.3", "10.99.0.3"},
		"mixed parts":                         {"0xcb.0.0x71.0102", "203.0.113.66"},
		"the smallest":                        {"0", "0.0.0.0"},
		"the largest":                         {"4294967295", "255.255.255.255"},
		"IPv6 in brackets":                    {"[FD99:0::2]", "fd99::2"},
		"IPv6 without brackets":               {"fd99:0:0:0:0:0:0:2", "fd99::2"},
		"IPv4-mapped is IPv4":                 {"[::ffff:127.0.0.1]", "127.0.0.1"},
		"IPv4-mapped in hexadecimal is IPv4":  {"[0:0:0:0:0:ffff:7f00:1]", "127.0.0.1"},
		"IPv4-compatible stays IPv6":          {"[::127.0.0.1]", "::7f00:1"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := ParseHost(c.in)
			if err != nil || h.String() != c.want {
				t.Fatalf("ParseHost(%q) = %q, %v; want %q", c.in, h, err, c.want)
			}
			again, err := ParseHost(h.String())
			if err != nil || again != h {
				t.Errorf("the canonical text %q reads as %v, %v", h, again, err)
			}
		})
	}
}

func TestParseHostRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                     {"", `"": the host is empty (at character 1)`},
		"a dot alone":                 {".", `".": the host is empty (at character 1)`},
		"two trailing dots":           {"a..", `"a..": an empty label (at character 3)`},
		"a leading dot":               {".a", `".a": an empty label (at character 1)`},
		"an empty label":              {"a..b", `"a..b": an empty label (at character 3)`},
		"NUL":                         {"evil.test\x00.zone.test", `"evil.test\x00.zone.test": character '\x00' does not belong in a host (at character 10)`},
		"a line break":                {"a\r\n.b", `"a\r\n.b": character '\r' does not belong in a host (at character 2)`},
		"a percent escape":            {"evil.test%00.zone.test", `"evil.test%00.zone.test": character '%' does not belong in a host (at character 10)`},
		"a slash":                     {"evil.test/.zone.test", `"evil.test/.zone.test": character '/' does not belong in a host (at character 10)`},
		"user information":            {"a@b", `"a@b": character '@' does not belong in a host (at character 2)`},
		"a backslash":                 {`a\b`, `"a\\b": character '\\' does not belong in a host (at character 2)`},
		"a star":                      {"*.example.com", `"*.example.com": character '*' does not belong in a host (at character 1)`},
		"a colon":                     {"a:80", `"a:80": character ':' does not belong in a host (at character 2)`},
		"a number too large":          {"4294967296", `"4294967296": the last label is a number, but the whole is not an IPv4 address (at character 1)`},
		"a part too large":            {"256.0.0.1", `"256.0.0.1": the last label is a number, but the whole is not an IPv4 address (at character 9)`},
		"five parts":                  {"1.2.3.4.5", `"1.2.3.4.5": the last label is a number, but the whole is not an IPv4 address (at character 9)`},
		"a name that ends in digits":  {"example.123", `"example.123": the last label is a number, but the whole is not an IPv4 address (at character 9)`},
		"bad octal":                   {"08.0.0.1", `"08.0.0.1": the last label is a number, but the whole is not an IPv4 address (at character 8)`},
		"an empty hexadecimal":        {"0x", `"0x": the last label is a number, but the whole is not an IPv4 address (at character 1)`},
		"a zone in brackets":          {"[fe80::1%25eth0]", `"[fe80::1%25eth0]": a zone identifier is not part of an address that can be judged (at character 9)`},
		"a zone with a domain behind": {"[::1%25.example.com]", `"[::1%25.example.com]": a zone identifier is not part of an address that can be judged (at character 5)`},
		"an open bracket":             {"[::1", `"[::1": the bracket of the IPv6 address is not closed (at character 5)`},
		"IPv4 in brackets":            {"[127.0.0.1]", `"[127.0.0.1]": not an IPv6 address (at character 2)`},
		"a name in brackets":          {"[example.com]", `"[example.com]": not an IPv6 address (at character 2)`},
		"rubbish with colons":         {"a:b:c", `"a:b:c": not an IPv6 address (at character 1)`},
		"broken UTF-8":                {"a\xff.b", `"a\xff.b": not a valid internationalised name (at character 2)`},
		"a space from a mapping":      {"a\u2003b", `"a\u2003b": character ' ' does not belong in a host (at character 2)`},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := ParseHost(c.in)
			if err == nil {
				t.Fatalf("ParseHost(%q) = %q, want an error", c.in, h)
			}
			if err.Error() != c.want {
				t.Errorf("error\n %s\nwant\n %s", err, c.want)
			}
		})
	}
	for _, long := range []string{strings.Repeat("a", 64) + ".b", strings.Repeat("a.", 127) + "b.c"} {
		if h, err := ParseHost(long); err == nil {
			t.Errorf("ParseHost of %d bytes = %q, want an error", len(long), h)
		}
	}
}

func TestParseHostPort(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		def  uint16
		want string
	}{
		"name and port":          {"Example.com.:443", 0, "example.com:443"},
		"the default port":       {"example.com", 80, "example.com:80"},
		"IPv6 and port":          {"[FD99::0:2]:8080", 0, "[fd99::2]:8080"},
		"IPv6 without port":      {"[::1]", 80, "[::1]:80"},
		"mapped with port":       {"[::ffff:10.0.0.1]:1", 0, "10.0.0.1:1"},
		"decimal with port":      {"3405803842:80", 0, "203.0.113.66:80"},
		"the largest port":       {"a.b:65535", 0, "a.b:65535"},
		"a port beats a default": {"a.b:81", 80, "a.b:81"},
	} {
		t.Run(name, func(t *testing.T) {
			hp, err := ParseHostPort(c.in, c.def)
			if err != nil || hp.String() != c.want {
				t.Fatalf("ParseHostPort(%q) = %q, %v; want %q", c.in, hp, err, c.want)
			}
		})
	}
	for name, c := range map[string]struct{ in, want string }{
		"no port":                             {"example.com", `"example.com": the port is missing (at character 12)`},
		"an empty port":                       {"example.com:", `"example.com:": port "" is not a number from 1 to 65535 (at character 13)`},
		"port 0":                              {"example.com:0", `"example.com:0": port "0" is not a number from 1 to 65535 (at character 13)`},
		"a port too large":                    {"example.com:73616", `"example.com:73616": port "73616" is not a number from 1 to 65535 (at character 13)`},
		"a leading zero":                      {"example.com:08080", `"example.com:08080": port "08080" is not a number from 1 to 65535 (at character 13)`},
		"a signed port":                       {"example.com:+80", `"example.com:+80": port "+80" is not a number from 1 to 65535 (at character 13)`},
		"a service name":                      {"example.com:http", `"example.com:http": port "http" is not a number from 1 to 65535 (at character 13)`},
		"user information":                    {"allowed.test:80@evil.test:80", `"…@evil.test:80": user information is not part of a destination (at character 1)`},
		"a password is not shown":             {"u:SECRET@allowed.test:80", `"…@allowed.test:80": user information is not part of a destination (at character 1)`},
		"a bare IPv6 address":                 {"::1:80", `"::1:80": an IPv6 address needs brackets (at character 1)`},
		"text behind brackets":                {"[::1]x:80", `"[::1]x:80": only a port may follow the bracket (at character 6)`},
		"a path":                              {"evil.test:80/.zone.test", `"evil.test:80/.zone.test": port "80/.zone.test" is not a number from 1 to 65535 (at character 11)`},
		"a zone":                              {"[::1%25.zone.test]:80", `"[::1%25.zone.test]:80": a zone identifier is not part of an address that can be judged (at character 5)`},
		"nothing":                             {"", `"": the port is missing (at character 1)`},
		"a port alone":                        {":80", `":80": the host is empty (at character 1)`},
		"nothing before the port in brackets": {"[]:80", `"[]:80": not an IPv6 address (at character 2)`},
	} {
		t.Run(name, func(t *testing.T) {
			hp, err := ParseHostPort(c.in, 0)
			if err == nil || err.Error() != c.want {
				t.Fatalf("ParseHostPort(%q) = %q, error\n %v\nwant\n %s", c.in, hp, err, c.want)
			}
		})
	}
}

func TestFromAddr(t *testing.T) {
	if h := FromAddr(netip.MustParseAddr("::ffff:1.2.3.4")); h.String() != "1.2.3.4" {
		t.Errorf("a mapped address became %q", h)
	}
	if h := FromAddr(netip.MustParseAddr("fe80::1%eth0")); h.String() != "fe80::1" {
		t.Errorf("a zone was kept: %q", h)
	}
	if h := FromAddr(netip.Addr{}); h.IsValid() || (HostPort{Host: h, Port: 1}).IsValid() {
		t.Errorf("the zero address became the host %q", h)
	}
}

func TestIsLocalhost(t *testing.T) {
	for in, want := range map[string]bool{"localhost": true, "LOCALHOST.": true, "a.localhost": true, "notlocalhost": false, "localhost.com": false, "127.0.0.1": false} {
		h, err := ParseHost(in)
		if err != nil || h.IsLocalhost() != want {
			t.Errorf("IsLocalhost of %q = %v, %v", in, h.IsLocalhost(), err)
		}
	}
}
