package policy

import (
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
		r.p.proxy.Parent.NoProxy = s.NoProxy
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
	parent.NoProxy = lookup(r.p.ctx.Env, "NO_PROXY").value
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
	for _, c := range user {
		if c <= ' ' || c == 0x7f || strings.ContainsRune("/?#", c) {
			return "", "has a user or password with characters that must be percent-encoded"
		}
	}
	hp, err := hostmatch.ParseHostPort(authority, port)
	if err != nil {
		return "", "has no valid host and port"
	}
	return strings.ToLower(scheme) + "://" + user + hp.String(), ""
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
