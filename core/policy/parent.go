package policy

import (
	"net/netip"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
)

// checkParent takes the proxy that srt itself goes through from the settings, else from the caller's proxy variables.
func checkParent(r *resolver) error {
	if s := r.f.Network.ParentProxy; s != nil {
		var err error
		if s.HTTP != "" {
			if r.p.proxy.Parent.HTTP, err = r.proxyURL(s.HTTP, "http"); err != nil {
				return err
			}
		}
		r.p.proxy.Parent.HTTPS = r.p.proxy.Parent.HTTP
		if s.HTTPS != "" {
			if r.p.proxy.Parent.HTTPS, err = r.proxyURL(s.HTTPS, "https"); err != nil {
				return err
			}
		}
		var bad string
		if r.p.proxy.Parent.NoProxy, bad = parseNoProxy(s.NoProxy); bad != "" {
			return r.f.Errorf(quote(bad)+" is no host, address or block", `write them separated by commas: "localhost,.example.com,10.0.0.0/8"`, "network", "parentProxy", "noProxy")
		}
		return nil
	}
	http, https := lookup(r.p.ctx.Env, "HTTP_PROXY"), lookup(r.p.ctx.Env, "HTTPS_PROXY")
	if https.value == "" {
		https = http
	}
	var parent wire.ParentProxy
	for _, v := range []struct {
		from variable
		to   *string
	}{{http, &parent.HTTP}, {https, &parent.HTTPS}} {
		if v.from.value == "" {
			continue
		}
		url, problem := parseProxyURL(v.from.value)
		if problem != "" {
			if len(r.f.Network.AllowedDomains) == 0 && !r.p.ctx.Ask {
				return nil // no connection is ever made: a variable must not keep `srt ls` from running
			}
			return r.f.Errorf("the environment variable "+v.from.name+" "+problem,
				`unset it, or write "parentProxy" with the proxy to use ({} for none)`, "network", "parentProxy")
		}
		*v.to = url
	}
	none := lookup(r.p.ctx.Env, "NO_PROXY")
	var bad string
	if parent.NoProxy, bad = parseNoProxy(none.value); bad != "" && parent.HTTP+parent.HTTPS != "" {
		r.note("the environment variable %s: %s is no host, address or block, so it makes no exception", none.name, quote(bad))
	}
	r.p.proxy.Parent = parent
	return nil
}

func (r *resolver) proxyURL(s, key string) (string, error) {
	url, problem := parseProxyURL(s)
	if problem != "" {
		return "", r.f.Errorf("the URL "+problem, `write it like "http://proxy.example.com:3128"`, "network", "parentProxy", key)
	}
	return url, nil
}

// parseProxyURL gives s as scheme://[user[:password]@]host:port, or what is wrong with it. The text may hold a password: the problem
// never quotes it.
func parseProxyURL(s string) (url, problem string) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		scheme, rest = "http", s // as curl reads it
	}
	port := uint16(80)
	switch strings.ToLower(scheme) {
	case "http":
	case "https":
		port = 443
	default:
		return "", "is not an http:// or https:// proxy"
	}
	rest = strings.TrimSuffix(rest, "/")
	user, authority := "", rest
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user, authority = rest[:i+1], rest[i+1:]
	}
	if !isUserinfo(user) {
		return "", "has a user or password with characters that must be percent-encoded"
	}
	hp, err := hostmatch.ParseHostPort(authority, port)
	if err != nil {
		return "", "has no valid host and port"
	}
	return strings.ToLower(scheme) + "://" + user + hp.String(), ""
}

// isUserinfo accepts what RFC 3986 lets stand in front of a host, and the "@" that url.Parse accepts too.
func isUserinfo(s string) bool {
	const hex = "0123456789abcdefABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0:
		case c == '%' && i+2 < len(s) && strings.IndexByte(hex, s[i+1]) >= 0 && strings.IndexByte(hex, s[i+2]) >= 0:
			i += 2
		default:
			return false
		}
	}
	return true
}

// parseNoProxy gives the entries that can be applied, and the first one that cannot. proxyd would refuse the whole list for it.
func parseNoProxy(s string) (list, bad string) {
	var good []string
	for _, entry := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		block := strings.Trim(entry, "[]")
		a, err := netip.ParseAddr(block)
		_, blockErr := netip.ParsePrefix(block)
		_, nameErr := hostmatch.ParsePattern(strings.TrimPrefix(strings.TrimPrefix(entry, "*"), "."))
		switch {
		case entry == "*", err == nil && a.Zone() == "", blockErr == nil, nameErr == nil:
			good = append(good, entry)
		case bad == "":
			bad = entry
		}
	}
	return strings.Join(good, ","), bad
}

type variable struct{ name, value string }

// lookup finds a variable in capitals or in small letters; an empty value counts as unset. Of equal names the last one counts.
func lookup(env []string, name string) variable {
	var upper, lower variable
	small := strings.ToLower(name)
	for _, e := range env {
		switch k, v, _ := strings.Cut(e, "="); k {
		case name:
			upper = variable{k, v}
		case small:
			lower = variable{k, v}
		}
	}
	if upper.value != "" {
		return upper
	}
	return lower
}
