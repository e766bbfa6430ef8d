package acl

import (
	"net/netip"
	"testing"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
)

func dest(t *testing.T, s string) hostmatch.HostPort {
	t.Helper()
	hp, err := hostmatch.ParseHostPort(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return hp
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  wire.ProxyConfig
		own  *wire.NetLists
		dest string
		want Decision
	}{
		"an empty configuration denies": {
			dest: "example.com:443", want: Decision{Deny, "", "not on the allow list", true}},
		"the allow list allows and says by which entry": {
			cfg:  wire.ProxyConfig{AllowedDomains: []string{"*.Example.com"}},
			dest: "www.example.com:443", want: Decision{Allow, "*.Example.com", "on the allow list", false}},
		"the deny list wins over the allow list": {
			cfg:  wire.ProxyConfig{AllowedDomains: []string{"*.example.com", "deny.example.com"}, DeniedDomains: []string{"deny.example.com"}},
			dest: "deny.example.com:1", want: Decision{Deny, "deny.example.com", "on the deny list", false}},
		"an entry's own reason is given": {
			cfg: wire.ProxyConfig{AllowedDomains: []string{"github.test"}, DeniedDomains: []string{"github.test:22"},
				DeniedDomainReasons: map[string]string{"github.test:22": "use https"}},
			dest: "github.test:22", want: Decision{Deny, "github.test:22", "use https", false}},
		"an empty reason is no reason": {
			cfg:  wire.ProxyConfig{DeniedDomains: []string{"*"}, DeniedDomainReasons: map[string]string{"*": ""}},
			dest: "a.b:1", want: Decision{Deny, "*", "on the deny list", false}},
		"of several entries one with a reason is told": {
			cfg:  wire.ProxyConfig{DeniedDomains: []string{"*.example.com", "a.example.com", "*"}, DeniedDomainReasons: map[string]string{"a.example.com": "use b", "*": "no network"}},
			dest: "a.example.com:443", want: Decision{Deny, "a.example.com", "use b", false}},
		"a reason without an entry denies nothing": {
			cfg:  wire.ProxyConfig{AllowedDomains: []string{"a.b"}, DeniedDomainReasons: map[string]string{"a.b": "no"}},
			dest: "a.b:1", want: Decision{Allow, "a.b", "on the allow list", false}},
		"a strict allow list is not widened by the command or by a question": {
			cfg: wire.ProxyConfig{StrictAllowlist: true, Ask: true}, own: &wire.NetLists{AllowedDomains: []string{"a.b"}},
			dest: "a.b:1", want: Decision{Deny, "", "not on the allow list", true}},
		"the command's own list allows": {
			own:  &wire.NetLists{AllowedDomains: []string{"a.b:1"}},
			dest: "a.b:1", want: Decision{Allow, "a.b:1", "on the command's allow list", false}},
		"the command's own list comes before the question": {
			cfg: wire.ProxyConfig{Ask: true}, own: &wire.NetLists{AllowedDomains: []string{"a.b"}},
			dest: "a.b:1", want: Decision{Allow, "a.b", "on the command's allow list", false}},
		"the session's deny list wins over the command's own list": {
			cfg: wire.ProxyConfig{DeniedDomains: []string{"a.b"}}, own: &wire.NetLists{AllowedDomains: []string{"a.b"}},
			dest: "a.b:1", want: Decision{Deny, "a.b", "on the deny list", false}},
		"the command's own denial narrows the session's list": {
			cfg: wire.ProxyConfig{AllowedDomains: []string{"a.b"}}, own: &wire.NetLists{DeniedDomains: []string{"a.b:25"}},
			dest: "a.b:25", want: Decision{Deny, "a.b:25", "on the deny list", false}},
		"what no list names is asked": {
			cfg: wire.ProxyConfig{Ask: true}, dest: "a.b:1", want: Decision{Ask, "", "the user has to be asked", false}},
		"what is denied is not asked": {
			cfg: wire.ProxyConfig{Ask: true, DeniedDomains: []string{"*:22"}}, dest: "a.b:22", want: Decision{Deny, "*:22", "on the deny list", false}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewPolicy(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			own, err := NewLists(c.own)
			if err != nil {
				t.Fatal(err)
			}
			if got := Decide(Args{Policy: p, Own: own, Dest: dest(t, c.dest)}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestZeroValuesDeny(t *testing.T) {
	if Verdict(0) != Deny {
		t.Error("the zero verdict does not deny")
	}
	for _, a := range []Args{{}, {Policy: &Policy{}}, {Dest: dest(t, "a.b:1")}, {Policy: &Policy{}, Dest: dest(t, "a.b:1")}} {
		if d := Decide(a); d.Verdict != Deny || d.Reason == "" {
			t.Errorf("%+v gives %+v", a, d)
		}
	}
	if !(Args{}).DeniesAddr(netip.MustParseAddr("10.0.0.1")) || (Args{}).AllowsAddr(netip.MustParseAddr("10.0.0.1")) {
		t.Error("without a policy an address is let through")
	}
}

func TestAddresses(t *testing.T) {
	p, err := NewPolicy(wire.ProxyConfig{AllowedDomains: []string{"a.b", "127.0.0.1:80", "[::1]"}, DeniedDomains: []string{"10.0.0.3", "[::1]:25"}, Ask: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		port        string
		addr        string
		deny, allow bool
	}{
		"an allowed literal with its port": {"80", "127.0.0.1", false, true},
		"another port":                     {"81", "127.0.0.1", false, false},
		"every port":                       {"81", "::1", false, true},
		"a denial of one port wins":        {"25", "::1", true, false},
		"a denied literal":                 {"80", "10.0.0.3", true, false},
		"an address on no list":            {"80", "10.0.0.4", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := Args{Policy: p, Dest: dest(t, "a.b:"+c.port)}
			if d, al := a.DeniesAddr(netip.MustParseAddr(c.addr)), a.AllowsAddr(netip.MustParseAddr(c.addr)); d != c.deny || al != c.allow {
				t.Errorf("denied %v, allowed %v; want %v, %v", d, al, c.deny, c.allow)
			}
		})
	}
}

func TestWrongEntriesRefuseTheWholeConfiguration(t *testing.T) {
	for want, cfg := range map[string]wire.ProxyConfig{
		`network.allowedDomains: "*": "*" would allow every host; it is for deniedDomains only (at character 1)`: {AllowedDomains: []string{"a.b", "*"}},
		`network.deniedDomains: "http://x.y": a scheme is not part of an entry (at character 1); write "x.y"`:    {DeniedDomains: []string{"http://x.y"}},
	} {
		if p, err := NewPolicy(cfg); err == nil || err.Error() != want || p != nil {
			t.Errorf("got %v, %v; want %s", p, err, want)
		}
	}
	if l, err := NewLists(&wire.NetLists{AllowedDomains: []string{"*"}}); err == nil || l != nil {
		t.Errorf("a command's list with a wrong entry gives %v, %v", l, err)
	}
	if l, err := NewLists(&wire.NetLists{DeniedDomains: []string{"a b"}}); err == nil || l != nil {
		t.Errorf("a command's deny list with a wrong entry gives %v, %v", l, err)
	}
}
