package egress

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
)

// routes says which connections go through another proxy. The zero value sends everything directly.
type routes struct {
	mitm        *route
	mitmDomains *hostmatch.List
	ownHTTP     *route
	ownSocks    *route
	http, https *route
	noProxy     noProxy
}

// route is one upstream proxy.
type route struct {
	name          string // for the log
	network, addr string
	tlsName       string // not "": TLS to the proxy itself, whose certificate must have this name
	socks         bool   // SOCKS5 instead of HTTP
	authorization string // Proxy-Authorization
}

// NewDialer compiles the routes of cfg. What does not parse refuses the whole configuration.
func NewDialer(cfg wire.ProxyConfig) (*Dialer, error) {
	d := &Dialer{system: theSystem}
	r := &d.routes
	var err error
	if cfg.Mitm != nil {
		if !filepath.IsAbs(cfg.Mitm.SocketPath) {
			return nil, fmt.Errorf("network.mitmProxy.socketPath %q: not an absolute path", cfg.Mitm.SocketPath)
		}
		r.mitm = &route{name: "mitm", network: "unix", addr: cfg.Mitm.SocketPath}
		if r.mitmDomains, err = hostmatch.ParseList(cfg.Mitm.Domains); err != nil {
			return nil, fmt.Errorf("network.mitmProxy.domains: %w", err)
		}
	}
	if r.ownHTTP, err = ownProxy("network.httpProxyPort", cfg.HTTPProxyPort, false); err != nil {
		return nil, err
	}
	if r.ownSocks, err = ownProxy("network.socksProxyPort", cfg.SOCKSProxyPort, true); err != nil {
		return nil, err
	}
	if r.http, err = parentProxy("network.parentProxy.http", cfg.Parent.HTTP); err != nil {
		return nil, err
	}
	if r.https, err = parentProxy("network.parentProxy.https", cfg.Parent.HTTPS); err != nil {
		return nil, err
	}
	if r.https == nil {
		r.https = r.http // as curl and most tools do
	}
	r.noProxy, d.Ignored = parseNoProxy(cfg.Parent.NoProxy)
	for _, s := range cfg.DeniedResolvedAddresses {
		p, err := parsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("network.deniedResolvedAddresses: %w", err)
		}
		d.denied = append(d.denied, p)
	}
	return d, nil
}

// choose gives the upstream proxy for t, nil for a direct connection. This host's loopback is never reached through somebody else.
func (r *routes) choose(t Target) *route {
	if _, ok := r.mitmDomains.Match(t.Dest); ok {
		return r.mitm
	}
	if t.Dest.Host.IsLocalhost() || t.Dest.Host.Addr().IsLoopback() {
		return nil
	}
	own := r.ownHTTP
	if own == nil || t.Kind == Socks && r.ownSocks != nil {
		own = r.ownSocks
	}
	if own != nil {
		return own
	}
	if r.noProxy.match(t.Dest) {
		return nil
	}
	if t.Kind == Plain {
		return r.http
	}
	return r.https
}

func ownProxy(key string, port int, socks bool) (*route, error) {
	if port == 0 {
		return nil, nil
	}
	if port < 0 || port > 65535 {
		return nil, fmt.Errorf("%s: %d is not a port", key, port)
	}
	return &route{name: "own proxy", network: "tcp", addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), socks: socks}, nil
}

// parentProxy reads "http://user:password@host:port", "https://…" or "host:port". Errors never show the user information.
func parentProxy(key, s string) (*route, error) {
	if s == "" {
		return nil, nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL", key) // the error of url.Parse quotes the whole text
	}
	ports := map[string]uint16{"http": 80, "https": 443}
	port, ok := ports[u.Scheme]
	if !ok {
		return nil, fmt.Errorf("%s: a %q proxy is not known; http and https are", key, u.Scheme)
	}
	hp, err := hostmatch.ParseHostPort(u.Host, port)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	r := &route{name: "parent", network: "tcp", addr: hp.String()}
	if u.Scheme == "https" {
		r.tlsName = hp.Host.String()
	}
	if u.User != nil {
		password, _ := u.User.Password()
		r.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return r, nil
}

// parsePrefix reads an address or a CIDR block.
func parsePrefix(s string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(s); err == nil {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			return netip.PrefixFrom(a.Unmap(), p.Bits()-96).Masked(), nil
		}
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a block such as \"10.0.0.0/8\"", s)
	}
	a = a.Unmap()
	return netip.PrefixFrom(a, a.BitLen()), nil
}
