package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/acl"
)

// fake is a machine whose resolver and network are tables.
type fake struct {
	names map[string][]string // what resolves to what; a name that is missing does not resolve
	fails map[string]error    // addresses that cannot be reached
	slow  map[string]bool     // addresses that never answer
	local []string

	mu       sync.Mutex
	looked   []string
	dialled  []string
	upstream []string
}

func (f *fake) system() system {
	return system{
		resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			f.mu.Lock()
			f.looked = append(f.looked, name)
			f.mu.Unlock()
			addrs, ok := f.names[name]
			if !ok {
				return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
			}
			var out []netip.Addr
			for _, a := range addrs {
				out = append(out, netip.MustParseAddr(a))
			}
			return out, nil
		},
		connect: func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
			f.mu.Lock()
			f.dialled = append(f.dialled, addr.String())
			f.mu.Unlock()
			if f.slow[addr.Addr().String()] {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			if err := f.fails[addr.Addr().String()]; err != nil {
				return nil, &net.OpError{Op: "dial", Err: err}
			}
			a, b := net.Pipe()
			context.AfterFunc(ctx, func() { b.Close() })
			return a, nil
		},
		upstream: func(_ context.Context, network, addr string) (net.Conn, error) {
			f.mu.Lock()
			f.upstream = append(f.upstream, network+" "+addr)
			f.mu.Unlock()
			return nil, syscall.ECONNREFUSED
		},
		local: func() ([]netip.Addr, error) {
			var out []netip.Addr
			for _, a := range f.local {
				out = append(out, netip.MustParseAddr(a))
			}
			return out, nil
		},
	}
}

func target(t *testing.T, cfg wire.ProxyConfig, dest string) Target {
	t.Helper()
	p, err := acl.NewPolicy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	hp, err := hostmatch.ParseHostPort(dest, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Target{Args: acl.Args{Policy: p, Dest: hp}}
}

func dialer0(t *testing.T, cfg wire.ProxyConfig, f *fake) *Dialer {
	t.Helper()
	d, err := NewDialer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.system = f.system()
	return d
}

func TestResolvedAddresses(t *testing.T) {
	f := &fake{
		names: map[string][]string{
			"loop.example": {"127.0.0.1"}, "loop77.example": {"127.0.0.77"}, "loop6.example": {"::1"}, "mapped.example": {"::ffff:127.0.0.1"}, "compat.example": {"::127.0.0.1"},
			"nat64.example": {"64:ff9b::127.0.0.1"}, "6to4.example": {"2002:7f00:1::"}, "zero.example": {"0.0.0.0"}, "link.example": {"169.254.1.9"}, "meta.example": {"169.254.169.254"},
			"meta6.example": {"fd00:ec2::254"}, "multi.example": {"224.0.0.1"}, "broad.example": {"255.255.255.255"}, "self.example": {"198.51.100.1"}, "self6.example": {"2001:db8::5"},
			"selfmapped.example": {"64:ff9b::198.51.100.1"}, "private.example": {"10.7.7.7"}, "public.example": {"203.0.113.10"}, "v6.example": {"2001:db8:1::1"},
			"mixed.example": {"127.0.0.1", "203.0.113.10"}, "many.example": {"127.0.0.1", "169.254.1.1", "198.51.100.1", "::1"}, "second.example": {"10.99.0.3"},
			"empty.example": {}, "zoned.example": {"fe80::1%eth0"},
			"app.localhost": {"127.0.0.1"}, "far.localhost": {"203.0.113.10"}, "mixed.localhost": {"203.0.113.10", "::1"}, "localhost": {"::1", "127.0.0.1"}, "compat.localhost": {"::0.0.0.1", "10.0.0.1"},
		},
		local: []string{"198.51.100.1", "2001:db8::5", "127.0.0.1"},
	}
	for name, c := range map[string]struct {
		dest  string
		cfg   wire.ProxyConfig
		dials string // the addresses that were dialled
		why   string // the refusal, "" for none
	}{
		"an ordinary address":                    {dest: "public.example:80", dials: "203.0.113.10:80"},
		"an ordinary IPv6 address":               {dest: "v6.example:80", dials: "[2001:db8:1::1]:80"},
		"private addresses are not denied":       {dest: "private.example:80", dials: "10.7.7.7:80"},
		"loopback":                               {dest: "loop.example:80", why: "resolved to a loopback address"},
		"anywhere in 127.0.0.0/8":                {dest: "loop77.example:80", why: "resolved to a loopback address"},
		"IPv6 loopback":                          {dest: "loop6.example:80", why: "resolved to a loopback address"},
		"IPv4-mapped loopback":                   {dest: "mapped.example:80", why: "resolved to a loopback address"},
		"IPv4-compatible loopback":               {dest: "compat.example:80", why: "resolved to a loopback address"},
		"loopback behind NAT64":                  {dest: "nat64.example:80", why: "resolved to a loopback address"},
		"loopback in 6to4":                       {dest: "6to4.example:80", why: "resolved to a loopback address"},
		"unspecified":                            {dest: "zero.example:80", why: "resolved to an unspecified address"},
		"link-local":                             {dest: "link.example:80", why: "resolved to a link-local address"},
		"link-local with a zone":                 {dest: "zoned.example:80", why: "resolved to a link-local address"},
		"metadata":                               {dest: "meta.example:80", why: "resolved to a cloud metadata address"},
		"metadata over IPv6":                     {dest: "meta6.example:80", why: "resolved to a cloud metadata address"},
		"multicast":                              {dest: "multi.example:80", why: "resolved to a multicast address"},
		"broadcast":                              {dest: "broad.example:80", why: "resolved to the broadcast address"},
		"this host":                              {dest: "self.example:80", why: "resolved to an address of this host"},
		"this host over IPv6":                    {dest: "self6.example:80", why: "resolved to an address of this host"},
		"this host behind NAT64":                 {dest: "selfmapped.example:80", why: "resolved to an address of this host"},
		"a good address beside a bad one":        {dest: "mixed.example:80", dials: "203.0.113.10:80"},
		"several classes, always in one order":   {dest: "many.example:80", why: "resolved to a loopback address / a link-local address / an address of this host"},
		"a literal of the deny list":             {dest: "second.example:80", cfg: wire.ProxyConfig{DeniedDomains: []string{"10.99.0.3"}}, why: "resolved to a deny-listed address"},
		"a literal of the deny list, other port": {dest: "second.example:80", cfg: wire.ProxyConfig{DeniedDomains: []string{"10.99.0.3:81"}}, dials: "10.99.0.3:80"},
		"deniedResolvedAddresses":                {dest: "second.example:80", cfg: wire.ProxyConfig{DeniedResolvedAddresses: []string{"10.99.0.0/16"}}, why: "resolved to a listed address"},
		"deniedResolvedAddresses, one address":   {dest: "v6.example:80", cfg: wire.ProxyConfig{DeniedResolvedAddresses: []string{"2001:db8:1::1"}}, why: "resolved to a listed address"},
		"an allowed literal exempts its port":    {dest: "loop.example:80", cfg: wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1:80"}}, dials: "127.0.0.1:80"},
		"and no other port":                      {dest: "loop.example:81", cfg: wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1:80"}}, why: "resolved to a loopback address"},
		"an allowed literal beats the listed":    {dest: "second.example:80", cfg: wire.ProxyConfig{AllowedDomains: []string{"10.99.0.3"}, DeniedResolvedAddresses: []string{"10.0.0.0/8"}}, dials: "10.99.0.3:80"},
		"a denied literal beats an allowed one":  {dest: "loop.example:80", cfg: wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1"}, DeniedDomains: []string{"127.0.0.1"}}, why: "resolved to a deny-listed address"},
		"no carried form is allowed":             {dest: "compat.example:80", cfg: wire.ProxyConfig{AllowedDomains: []string{"127.0.0.1"}}, why: "resolved to a loopback address"},
		"localhost is loopback":                  {dest: "localhost:80", dials: "[::1]:80"},
		"a name below localhost":                 {dest: "app.localhost:80", dials: "127.0.0.1:80"},
		"a name below localhost nobody knows":    {dest: "new.localhost:80", dials: "127.0.0.1:80"},
		"a name below localhost that lies":       {dest: "far.localhost:80", why: "resolved to an address that is not loopback"},
		"one that lies about an allowed literal": {dest: "far.localhost:80", cfg: wire.ProxyConfig{AllowedDomains: []string{"203.0.113.10"}}, dials: "203.0.113.10:80"},
		"one that lies a little":                 {dest: "mixed.localhost:80", dials: "[::1]:80"},
		"a form of loopback is not loopback":     {dest: "compat.localhost:80", dials: "[::1]:80"},
		"localhost on the deny list by address":  {dest: "localhost:80", cfg: wire.ProxyConfig{DeniedDomains: []string{"[::1]"}}, dials: "127.0.0.1:80"},
		"a literal destination is not re-judged": {dest: "127.0.0.1:80", dials: "127.0.0.1:80"},
	} {
		t.Run(name, func(t *testing.T) {
			f.dialled, f.looked = nil, nil
			link, err := dialer0(t, c.cfg, f).Dial(t.Context(), target(t, c.cfg, c.dest))
			if got := strings.Join(f.dialled, " "); got != c.dials {
				t.Errorf("dialled %q, want %q", got, c.dials)
			}
			refusal, refused := errors.AsType[*Refusal](err)
			if refused != (c.why != "") || refused && refusal.Reason != c.why || !refused && err != nil {
				t.Errorf("error %v, want %q", err, c.why)
			}
			if len(f.looked) > 1 {
				t.Errorf("looked up %v", f.looked)
			}
			if err == nil && link.Addr.String() != c.dials {
				t.Errorf("the link says %v", link.Addr)
			}
		})
	}
	t.Run("an empty answer is a failure", func(t *testing.T) {
		_, err := dialer0(t, wire.ProxyConfig{}, f).Dial(t.Context(), target(t, wire.ProxyConfig{}, "empty.example:80"))
		if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != NoSuchHost {
			t.Errorf("error %v", err)
		}
	})
}

func TestFailures(t *testing.T) {
	f := &fake{
		names: map[string][]string{"a.example": {"203.0.113.1"}},
		fails: map[string]error{},
	}
	for name, c := range map[string]struct {
		err    error
		kind   FailureKind
		status int
		socks  byte
		code   string
	}{
		"refused":             {syscall.ECONNREFUSED, Refused, 502, 5, "connection-refused"},
		"no route to network": {syscall.ENETUNREACH, NetUnreachable, 502, 3, "network-unreachable"},
		"no route to host":    {syscall.EHOSTUNREACH, HostUnreachable, 502, 4, "host-unreachable"},
		"time-out":            {syscall.ETIMEDOUT, Timeout, 504, 4, "connection-timeout"},
		"deadline":            {context.DeadlineExceeded, Timeout, 504, 4, "connection-timeout"},
		"anything else":       {syscall.EADDRNOTAVAIL, Other, 502, 4, "connection-failed"},
	} {
		t.Run(name, func(t *testing.T) {
			f.fails["203.0.113.1"] = c.err
			_, err := dialer0(t, wire.ProxyConfig{}, f).Dial(t.Context(), target(t, wire.ProxyConfig{}, "a.example:80"))
			got, ok := errors.AsType[*Failure](err)
			if !ok || got.Kind != c.kind || got.Status() != c.status || got.SocksReply() != c.socks || got.Code() != c.code || !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
			if strings.Contains(got.Text(), "203.") {
				t.Errorf("the client is told an address: %q", got.Text())
			}
		})
	}
	t.Run("no such host", func(t *testing.T) {
		_, err := dialer0(t, wire.ProxyConfig{}, f).Dial(t.Context(), target(t, wire.ProxyConfig{}, "b.example:80"))
		if got, ok := errors.AsType[*Failure](err); !ok || got.Kind != NoSuchHost || got.Status() != 502 || got.Text() != "the name does not resolve" {
			t.Errorf("%v", err)
		}
	})
	for kind := Other; kind <= BadAnswer; kind++ {
		f := &Failure{Kind: kind}
		if f.Status() < 502 || f.SocksReply() < 3 || f.SocksReply() > 5 || f.Code() == "" || f.Text() == "" || f.Code() == "blocked-by-sandbox-runtime" {
			t.Errorf("kind %d: %+v", kind, failures[kind])
		}
	}
}

func TestHappyEyeballs(t *testing.T) {
	names := map[string][]string{"a.example": {"2001:db8::1", "2001:db8::2", "203.0.113.1", "203.0.113.2"}}
	for name, c := range map[string]struct {
		fails map[string]error
		slow  map[string]bool
		want  string
		dials string
	}{
		"the first answers":                          {nil, nil, "[2001:db8::1]:80", "[2001:db8::1]:80"},
		"families take turns":                        {map[string]error{"2001:db8::1": syscall.ENETUNREACH}, nil, "203.0.113.1:80", "[2001:db8::1]:80 203.0.113.1:80"},
		"a slow one is not waited for":               {nil, map[string]bool{"2001:db8::1": true}, "203.0.113.1:80", "[2001:db8::1]:80 203.0.113.1:80"},
		"the last one is good enough":                {map[string]error{"2001:db8::1": syscall.ECONNREFUSED, "203.0.113.1": syscall.ECONNREFUSED, "2001:db8::2": syscall.ECONNREFUSED}, nil, "203.0.113.2:80", "[2001:db8::1]:80 203.0.113.1:80 [2001:db8::2]:80 203.0.113.2:80"},
		"all fail: the first one's error is the one": {map[string]error{"2001:db8::1": syscall.ECONNREFUSED, "203.0.113.1": syscall.ENETUNREACH, "2001:db8::2": syscall.ENETUNREACH, "203.0.113.2": syscall.ENETUNREACH}, nil, "", "[2001:db8::1]:80 203.0.113.1:80 [2001:db8::2]:80 203.0.113.2:80"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{names: names, fails: c.fails, slow: c.slow}
			start := time.Now()
			link, err := dialer0(t, wire.ProxyConfig{}, f).Dial(t.Context(), target(t, wire.ProxyConfig{}, "a.example:80"))
			if time.Since(start) > 5*time.Second {
				t.Errorf("it took %v", time.Since(start))
			}
			if c.want == "" {
				if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != Refused {
					t.Errorf("%v", err)
				}
			} else if err != nil || link.Addr.String() != c.want {
				t.Errorf("%v, %v; want %s", link, err, c.want)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if got := strings.Join(f.dialled, " "); got != c.dials {
				t.Errorf("dialled %s, want %s", got, c.dials)
			}
		})
	}
}

func TestAnAddressThatThisHostGotAMomentAgo(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f := &fake{names: map[string][]string{"a.example": {"203.0.113.9"}}}
	d := dialer0(t, wire.ProxyConfig{}, f)
	d.connect = func(context.Context, netip.AddrPort) (net.Conn, error) { return net.Dial("tcp", ln.Addr().String()) } // both ends 127.0.0.1
	_, err = d.Dial(t.Context(), target(t, wire.ProxyConfig{}, "a.example:80"))
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Reason != "resolved to an address of this host" {
		t.Errorf("%v", err)
	}
}

func TestLocalAddresses(t *testing.T) {
	addrs, err := localAddrs()()
	if err != nil || !slices.Contains(addrs, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("%v, %v", addrs, err)
	}
}

func TestRoutes(t *testing.T) {
	parent := wire.ParentProxy{HTTP: "http://user:p%40ss@proxy.example:3128", HTTPS: "https://secure.example", NoProxy: "inside.example, .dot.example,*.star.example, 10.0.0.0/8 , 2001:db8::/32, port.example:8080, <local>"}
	for name, c := range map[string]struct {
		cfg   wire.ProxyConfig
		dest  string
		kind  Kind
		route string // "" for direct
	}{
		"nothing is set":                       {wire.ProxyConfig{}, "a.example:80", Plain, ""},
		"plain requests by the http parent":    {wire.ProxyConfig{Parent: parent}, "a.example:80", Plain, "tcp proxy.example:3128"},
		"tunnels by the https parent":          {wire.ProxyConfig{Parent: parent}, "a.example:443", Tunnel, "tcp secure.example:443"},
		"SOCKS by the https parent":            {wire.ProxyConfig{Parent: parent}, "a.example:443", Socks, "tcp secure.example:443"},
		"tunnels by the only parent":           {wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: "proxy.example:3128"}}, "a.example:443", Tunnel, "tcp proxy.example:3128"},
		"plain requests not by https alone":    {wire.ProxyConfig{Parent: wire.ParentProxy{HTTPS: "http://proxy.example"}}, "a.example:80", Plain, ""},
		"noProxy: the domain":                  {wire.ProxyConfig{Parent: parent}, "inside.example:80", Plain, ""},
		"noProxy: below the domain":            {wire.ProxyConfig{Parent: parent}, "x.inside.example:80", Plain, ""},
		"noProxy: not a mere suffix":           {wire.ProxyConfig{Parent: parent}, "notinside.example:80", Plain, "tcp proxy.example:3128"},
		"noProxy: a leading dot":               {wire.ProxyConfig{Parent: parent}, "dot.example:80", Plain, ""},
		"noProxy: a star":                      {wire.ProxyConfig{Parent: parent}, "a.star.example:80", Plain, ""},
		"noProxy: a block":                     {wire.ProxyConfig{Parent: parent}, "10.1.2.3:80", Plain, ""},
		"noProxy: outside the block":           {wire.ProxyConfig{Parent: parent}, "11.1.2.3:80", Plain, "tcp proxy.example:3128"},
		"noProxy: a port":                      {wire.ProxyConfig{Parent: parent}, "port.example:8080", Plain, ""},
		"noProxy: another port":                {wire.ProxyConfig{Parent: parent}, "port.example:80", Plain, "tcp proxy.example:3128"},
		"noProxy: everything":                  {wire.ProxyConfig{Parent: wire.ParentProxy{HTTP: "proxy.example", NoProxy: "*"}}, "a.example:80", Plain, ""},
		"loopback is never somebody else's":    {wire.ProxyConfig{Parent: parent}, "127.0.0.1:80", Plain, ""},
		"nor is localhost":                     {wire.ProxyConfig{Parent: parent, HTTPProxyPort: 8080}, "a.localhost:80", Plain, ""},
		"the user's own HTTP proxy":            {wire.ProxyConfig{Parent: parent, HTTPProxyPort: 8080}, "a.example:80", Plain, "tcp 127.0.0.1:8080"},
		"the user's own HTTP proxy for all":    {wire.ProxyConfig{HTTPProxyPort: 8080}, "a.example:80", Socks, "tcp 127.0.0.1:8080"},
		"the user's own SOCKS proxy":           {wire.ProxyConfig{HTTPProxyPort: 8080, SOCKSProxyPort: 1080}, "a.example:80", Socks, "tcp 127.0.0.1:1080"},
		"the user's own SOCKS proxy for all":   {wire.ProxyConfig{SOCKSProxyPort: 1080}, "a.example:80", Plain, "tcp 127.0.0.1:1080"},
		"a domain of mitmProxy":                {wire.ProxyConfig{Parent: parent, HTTPProxyPort: 1, Mitm: &wire.MitmProxy{SocketPath: "/run/mitm", Domains: []string{"*.m.example"}}}, "a.m.example:443", Tunnel, "unix /run/mitm"},
		"a domain that is none of mitmProxy's": {wire.ProxyConfig{Mitm: &wire.MitmProxy{SocketPath: "/run/mitm", Domains: []string{"*.m.example"}}}, "m.example:443", Tunnel, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := dialer0(t, c.cfg, &fake{})
			if strings.Contains(c.cfg.Parent.NoProxy, "<") && !slices.Equal(d.Ignored, []string{"<local>"}) {
				t.Errorf("ignored %q", d.Ignored)
			}
			tg := target(t, c.cfg, c.dest)
			tg.Kind = c.kind
			got := ""
			if r := d.routes.choose(tg); r != nil {
				got = r.network + " " + r.addr
			}
			if got != c.route {
				t.Errorf("by %q, want %q", got, c.route)
			}
		})
	}
}

func TestConfigurationErrors(t *testing.T) {
	for want, cfg := range map[string]wire.ProxyConfig{
		`network.parentProxy.http: a "socks5" proxy is not known; http and https are`:                               {Parent: wire.ParentProxy{HTTP: "socks5://u:secret@a.b"}},
		`network.parentProxy.https: not a URL`:                                                                      {Parent: wire.ParentProxy{HTTPS: "http://u:sec ret@a.b:%zz"}},
		`network.parentProxy.http: "a..b": an empty label (at character 3)`:                                         {Parent: wire.ParentProxy{HTTP: "http://u:secret@a..b"}},
		`network.mitmProxy.socketPath "mitm.sock": not an absolute path`:                                            {Mitm: &wire.MitmProxy{SocketPath: "mitm.sock"}},
		`network.mitmProxy.domains: "*": "*" would allow every host; it is for deniedDomains only (at character 1)`: {Mitm: &wire.MitmProxy{SocketPath: "/m", Domains: []string{"*"}}},
		`network.httpProxyPort: 70000 is not a port`:                                                                {HTTPProxyPort: 70000},
		`network.socksProxyPort: -1 is not a port`:                                                                  {SOCKSProxyPort: -1},
		`network.deniedResolvedAddresses: "10.0.0.0/33" is neither an address nor a block such as "10.0.0.0/8"`:     {DeniedResolvedAddresses: []string{"10.0.0.0/33"}},
		`network.deniedResolvedAddresses: "fe80::1%eth0" is neither an address nor a block such as "10.0.0.0/8"`:    {DeniedResolvedAddresses: []string{"fe80::1%eth0"}},
	} {
		d, err := NewDialer(cfg)
		if err == nil || err.Error() != want || d != nil {
			t.Errorf("error %v\nwant  %s", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "sec") && strings.Contains(want, "URL") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}
