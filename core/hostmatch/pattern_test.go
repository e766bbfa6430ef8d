package hostmatch

import (
	"slices"
	"testing"
)

func TestPatternMatch(t *testing.T) {
	for name, c := range map[string]struct {
		pattern string
		yes, no []string
	}{
		"an exact name is that name alone":     {"Example.com", []string{"example.com:1", "EXAMPLE.com.:443"}, []string{"www.example.com:1", "example.com.evil.test:1", "notexample.com:1", "com:1"}},
		"a port limits the entry":              {"example.com:443", []string{"example.com:443"}, []string{"example.com:80", "www.example.com:443"}},
		"a wildcard is strict subdomains":      {"*.example.com", []string{"www.example.com:1", "a.b.example.com:2"}, []string{"example.com:1", "notexample.com:1", "example.com.evil.test:1", "www.example.com.evil.test:1"}},
		"a wildcard with a port":               {"*.example.com:8080", []string{"www.example.com:8080"}, []string{"www.example.com:80", "example.com:8080"}},
		"a trailing dot in the entry":          {"example.com.", []string{"example.com:1"}, []string{"www.example.com:1"}},
		"a trailing dot behind a wildcard":     {"*.example.com.", []string{"www.example.com:1"}, []string{"example.com:1"}},
		"an international entry":               {"*.bücher.example", []string{"www.xn--bcher-kva.example:1", "WWW.BÜCHER.example:1"}, []string{"xn--bcher-kva.example:1"}},
		"an IPv4 address in every spelling":    {"127.0.0.1", []string{"127.0.0.1:1", "2130706433:1", "0x7f000001:1", "127.1:1", "[::ffff:127.0.0.1]:1"}, []string{"127.0.0.2:1", "[::1]:1", "[::127.0.0.1]:1"}},
		"an IPv6 address in every spelling":    {"[fd99:0:0:0:0:0:0:2]:80", []string{"[fd99::2]:80", "[FD99:0::2]:80"}, []string{"[fd99::2]:81", "[fd99::3]:80"}},
		"localhost":                            {"localhost", []string{"localhost:1", "LocalHost.:1"}, []string{"a.localhost:1", "127.0.0.1:1"}},
		"names below localhost":                {"*.localhost", []string{"a.localhost:1"}, []string{"localhost:1"}},
		"a single label":                       {"registry:5000", []string{"registry:5000"}, []string{"registry:80", "registry.example:5000"}},
		"a wildcard never matches an address":  {"*.0.example", []string{"a.0.example:1"}, []string{"127.0.0.1:1"}},
		"a host on the edge of a label is not": {"*.b.c", []string{"a.b.c:1"}, []string{"ab.c:1", "b.c:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePattern(c.pattern)
			if err != nil || p.String() != c.pattern {
				t.Fatalf("ParsePattern(%q) = %q, %v", c.pattern, p, err)
			}
			check := func(in string, want bool) {
				hp, err := ParseHostPort(in, 0)
				if err != nil {
					t.Fatal(err)
				}
				l, err := ParseList([]string{c.pattern})
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := l.Match(hp); p.Match(hp) != want || ok != want {
					t.Errorf("%q on %s: pattern %v, list %v, want %v", c.pattern, in, p.Match(hp), ok, want)
				}
			}
			for _, in := range c.yes {
				check(in, true)
			}
			for _, in := range c.no {
				check(in, false)
			}
		})
	}
}

func TestDenyPattern(t *testing.T) {
	hp := func(s string) HostPort {
		v, err := ParseHostPort(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	all, err := ParseDenyPattern("*")
	if err != nil || !all.Match(hp("example.com:1")) || !all.Match(hp("[::1]:2")) || all.Match(HostPort{}) {
		t.Errorf("* = %v, %v", all, err)
	}
	ssh, err := ParseDenyPattern("*:22")
	if err != nil || !ssh.Match(hp("example.com:22")) || !ssh.Match(hp("10.0.0.1:22")) || ssh.Match(hp("example.com:23")) {
		t.Errorf("*:22 = %v, %v", ssh, err)
	}
}

func TestPatternErrors(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                        {"", `"": the entry is empty (at character 1)`},
		"a URL":                          {"https://example.com/x", `"https://example.com/x": a scheme is not part of an entry (at character 1); write "example.com"`},
		"a URL with port":                {"http://user@example.com:8080", `"http://user@example.com:8080": a scheme is not part of an entry (at character 1); write "example.com:8080"`},
		"a path":                         {"example.com/x", `"example.com/x": a path is not part of an entry (at character 12); write "example.com"`},
		"user information":               {"git@github.com", `"git@github.com": user information is not part of an entry (at character 4); write "github.com"`},
		"white space":                    {" example.com", `" example.com": white space does not belong in an entry (at character 1); write "example.com"`},
		"everything":                     {"*", `"*": "*" would allow every host; it is for deniedDomains only (at character 1)`},
		"everything on a port":           {"*:22", `"*:22": "*" would allow every host; it is for deniedDomains only (at character 1)`},
		"a whole top-level domain":       {"*.com", `"*.com": a wildcard needs at least two labels behind the star (at character 1); write "*.example.com"`},
		"a star in the middle":           {"api.*.example.com", `"api.*.example.com": a star may only stand for the first labels, as in "*.example.com" (at character 5); write "*.example.com"`},
		"a star inside a label":          {"*example.com", `"*example.com": a star may only stand for the first labels, as in "*.example.com" (at character 1)`},
		"two stars":                      {"*.*.example.com", `"*.*.example.com": character '*' does not belong in a host (at character 3)`},
		"a star before an address":       {"*.0.0.1", `"*.0.0.1": a wildcard does not go with an address (at character 3)`},
		"a bare IPv6 address":            {"2001:db8::1:443", `"2001:db8::1:443": an IPv6 address needs brackets: without them its end and a port look the same (at character 5); write "[2001:db8::1:443]"`},
		"an open bracket":                {"[::1", `"[::1": the bracket of the IPv6 address is not closed (at character 5)`},
		"a zone":                         {"[fe80::1%eth0]", `"[fe80::1%eth0]": a zone identifier is not part of an address that can be judged (at character 9)`},
		"a port too large":               {"example.com:70000", `"example.com:70000": port "70000" is not a number from 1 to 65535 (at character 13)`},
		"a port by name":                 {"example.com:http", `"example.com:http": port "http" is not a number from 1 to 65535 (at character 13)`},
		"port 0":                         {"example.com:0", `"example.com:0": port "0" is not a number from 1 to 65535 (at character 13)`},
		"an empty port":                  {"example.com:", `"example.com:": port "" is not a number from 1 to 65535 (at character 13)`},
		"an empty label":                 {"a..b", `"a..b": an empty label (at character 3)`},
		"an empty label behind the star": {"*..b", `"*..b": an empty label (at character 3)`},
		"an address in decimal":          {"2130706433:80", `"2130706433:80": an address that is not spelt in its usual form (at character 1); write "127.0.0.1:80"`},
		"a shortened address":            {"127.1", `"127.1": an address that is not spelt in its usual form (at character 1); write "127.0.0.1"`},
		"a mapped address":               {"[::ffff:127.0.0.1]", `"[::ffff:127.0.0.1]": an address that is not spelt in its usual form (at character 1); write "127.0.0.1"`},
		"a character that is not one":    {"exa$mple.com", `"exa$mple.com": character '$' does not belong in a host (at character 4)`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePattern(c.in)
			if err == nil || err.Error() != c.want {
				t.Fatalf("ParsePattern(%q) = %q, error\n %v\nwant\n %s", c.in, p, err, c.want)
			}
		})
	}
	if _, err := ParseDenyPattern("**"); err == nil {
		t.Error("** is accepted in a deny list")
	}
}

func TestListGivesTheFirstEntryAsWritten(t *testing.T) {
	l, err := ParseDenyList([]string{"*.Example.com", "www.example.com", "WWW.example.com:22", "*:25", "10.0.0.1:80", "10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"www.example.com:22": "*.Example.com", "example.com:1": "", "other.test:25": "*:25", "www.example.com:25": "*.Example.com",
		"10.0.0.1:80": "10.0.0.1:80", "10.0.0.1:81": "10.0.0.1", "10.0.0.2:81": "",
	} {
		hp, err := ParseHostPort(in, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := l.Match(hp); got != want || ok != (want != "") {
			t.Errorf("Match(%s) = %q, %v; want %q", in, got, ok, want)
		}
	}
	if l.Len() != 6 {
		t.Errorf("Len = %d", l.Len())
	}
}

func TestAnEmptyListMatchesNothing(t *testing.T) {
	hp, _ := ParseHostPort("example.com:80", 0)
	empty, err := ParseList(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*List{nil, {}, empty} {
		if e, ok := l.Match(hp); ok || l.Len() != 0 {
			t.Errorf("an empty list matches %q", e)
		}
	}
	if (Pattern{}).Match(hp) || (Pattern{}).Match(HostPort{}) {
		t.Error("the zero pattern matches")
	}
	if _, err := ParseList([]string{"a.b", "*"}); err == nil {
		t.Error("a list with a wrong entry is accepted")
	}
}

func TestMirrors(t *testing.T) {
	got := Mirrors([]string{"127.0.0.1:5432", "LOCALHOST:3000", "[::1]:80", "127.0.0.77:9", "127.0.0.1:5432", "localhost.:3000",
		"127.0.0.1", "localhost", "example.com:80", "10.0.0.1:80", "A.localhost:80", "*.localhost:81", "*:1", "[::1]"})
	want := []string{"127.0.0.1:5432", "localhost:3000", "[::1]:80", "127.0.0.77:9", "a.localhost:80"}
	if !slices.Equal(got, want) {
		t.Errorf("Mirrors = %q, want %q", got, want)
	}
}
