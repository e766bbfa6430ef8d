package policy

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// resolver fills one policy.
type resolver struct {
	f     *settings.File
	p     *Policy
	paths pathStyle
}

// checks are run in this order; the first error ends it. Each one checks what its name says and puts the result into the policy.
var checks = [...]struct {
	name string
	run  func(*resolver) error
}{
	{"home and working directory are absolute", checkContext},
	{"file lists can be applied", checkFiles},
	{"lifted mandatory denies exist", checkProtected},
	{"domain lists parse", checkDomains},
	{"reasons belong to denied domains", checkReasons},
	{"denied addresses parse", checkAddresses},
	{"the user's own proxies are on valid ports", checkOwnProxies},
	{"the mitm proxy is complete", checkMitm},
	{"the parent proxy is a proxy", checkParent},
	{"unix sockets and services can be applied", checkSockets},
	{"bubblewrap is an absolute path", checkBwrap},
	{"trusted repositories are paths", checkGit},
	{"the installation on Windows can be as it is described", checkWindows},
	{"everything else", takeRest},
}

func checkContext(r *resolver) error {
	for _, d := range []struct{ what, path string }{{"home directory", r.p.ctx.Home}, {"working directory", r.p.ctx.Dir}} {
		if !r.paths.isAbs(r.paths.slash(d.path)) || strings.ContainsRune(d.path, 0) {
			return fmt.Errorf("resolve the policy: the %s %q is not an absolute path", d.what, d.path)
		}
	}
	return nil
}

func checkDomains(r *resolver) error {
	n := &r.f.Network
	for i, s := range n.AllowedDomains {
		pattern, err := hostmatch.ParsePattern(s)
		if err != nil {
			return r.badDomain(err, "network", "allowedDomains", i)
		}
		if h := pattern.Host(); pattern.Port() == 0 && (h.IsLocalhost() || h.Addr().IsLoopback()) {
			r.note("network.allowedDomains: %s is reachable through the proxy only; with a port it is reachable under its own address too", quote(s))
		}
	}
	for i, s := range n.DeniedDomains {
		if _, err := hostmatch.ParseDenyPattern(s); err != nil {
			return r.badDomain(err, "network", "deniedDomains", i)
		}
	}
	r.p.proxy.AllowedDomains, r.p.proxy.DeniedDomains = clone(n.AllowedDomains), clone(n.DeniedDomains)
	r.p.network.Mirrors = r.mirrors(hostmatch.Mirrors(n.AllowedDomains))
	return nil
}

// mirrors gives those of all that can be had beside the proxy.
func (r *resolver) mirrors(all []string) []string {
	free := wire.MaxListeners - 1
	for i, m := range all {
		at := m
		if _, err := netip.ParseAddrPort(m); err != nil { // a name stands for an address of each family
			at = "127.0.0.1" + m[strings.LastIndexByte(m, ':'):]
			free--
		}
		if free--; free < 0 {
			r.p.warnings = append(r.p.warnings, fmt.Sprintf("network.allowedDomains: %s, and every loopback address with a port that follows, is reachable through the proxy only: "+
				"%d addresses can be reached under their own", quote(m), wire.MaxListeners-1))
			return all[:i]
		}
		if r.p.ctx.GOOS == "linux" && at == wire.LinuxProxyAddr {
			r.note("network.allowedDomains: %s is reachable through the proxy only, because srt's own proxy has that address inside", quote(m))
		}
	}
	return all
}

func (r *resolver) badDomain(err error, place ...any) error {
	hint := `write a host, "*.host", an IPv4 address or an IPv6 address in brackets, each with an optional :port`
	problem := err.Error()
	if e, ok := err.(*hostmatch.SyntaxError); ok {
		problem = quote(e.Text) + ": " + e.Detail
		if e.Hint != "" {
			hint = "write " + quote(e.Hint)
		}
	}
	return r.f.Errorf(problem, hint, place...)
}

func checkReasons(r *resolver) error {
	reasons := make(map[string]string, len(r.f.Network.DeniedDomainReasons))
	for key, reason := range r.f.Network.DeniedDomainReasons {
		if _, err := hostmatch.ParseDenyPattern(key); err != nil {
			return r.badDomain(err, "network", "deniedDomainReasons", key)
		}
		reasons[key] = reason
	}
	denied := make(map[string]bool, len(r.f.Network.DeniedDomains))
	for _, d := range r.f.Network.DeniedDomains {
		denied[d] = true
	}
	for key := range reasons {
		if !denied[key] {
			r.note("network.deniedDomainReasons: %s has no effect, because deniedDomains has no entry spelt so", quote(key))
		}
	}
	r.p.proxy.DeniedDomainReasons = reasons
	return nil
}

func checkAddresses(r *resolver) error {
	for i, s := range r.f.Network.DeniedResolvedAddresses {
		_, err := netip.ParsePrefix(s)
		if a, aerr := netip.ParseAddr(s); aerr == nil {
			err = nil
			if a.Zone() != "" {
				err = fmt.Errorf("zone")
			}
		}
		if err != nil {
			return r.f.Errorf(quote(s)+" is no IP address and no CIDR block", `write it like "10.0.0.0/8", "192.168.1.10" or "fc00::/7"`, "network", "deniedResolvedAddresses", i)
		}
	}
	r.p.proxy.DeniedResolvedAddresses = clone(r.f.Network.DeniedResolvedAddresses)
	return nil
}

func checkOwnProxies(r *resolver) error {
	n := &r.f.Network
	for _, p := range []struct {
		key  string
		port int
	}{{"httpProxyPort", n.HTTPProxyPort}, {"socksProxyPort", n.SOCKSProxyPort}} {
		if p.port < 0 || p.port > 65535 {
			return r.f.Errorf(strconv.Itoa(p.port)+" is not a port", "write a whole number from 1 to 65535", "network", p.key)
		}
	}
	r.p.proxy.HTTPProxyPort, r.p.proxy.SOCKSProxyPort = n.HTTPProxyPort, n.SOCKSProxyPort
	return nil
}

func checkMitm(r *resolver) error {
	m := r.f.Network.MitmProxy
	if m == nil {
		return nil
	}
	if m.SocketPath == "" || len(m.Domains) == 0 {
		return r.f.Errorf("socketPath or domains is missing", `write {"socketPath": "/path/of/socket", "domains": ["example.com"]}`, "network", "mitmProxy")
	}
	path, err := r.path(settings.PathEntry{Path: m.SocketPath, Literal: true}, "network", "mitmProxy", "socketPath")
	if err != nil {
		return err
	}
	for i, d := range m.Domains {
		if _, err := hostmatch.ParsePattern(d); err != nil {
			return r.badDomain(err, "network", "mitmProxy", "domains", i)
		}
	}
	r.p.proxy.Mitm = &wire.MitmProxy{SocketPath: path, Domains: clone(m.Domains)}
	r.denyOwn(path, "srt: the socket of mitmProxy, which leads outside")
	return nil
}

func checkSockets(r *resolver) error {
	n := &r.f.Network
	for i, s := range n.AllowUnixSockets {
		if err := r.entry(&r.p.process.AllowUnixSockets, settings.PathEntry{Path: s}, false, func() []any { return []any{"network", "allowUnixSockets", i} }); err != nil {
			return err
		}
	}
	for i, s := range n.AllowMachLookup {
		if s == "" || strings.Contains(strings.TrimSuffix(s, "*"), "*") {
			return r.f.Errorf(quote(s)+" is not a service name", `write a name, with at most one "*" at its end`, "network", "allowMachLookup", i)
		}
	}
	r.p.process.AllowMachLookup = clone(n.AllowMachLookup)
	r.p.process.AllowAllUnixSockets = n.AllowAllUnixSockets
	if n.AllowAllUnixSockets && len(n.AllowUnixSockets) > 0 {
		r.note("network.allowUnixSockets has no effect, because allowAllUnixSockets is on")
	}
	return nil
}

func checkBwrap(r *resolver) error {
	b := r.f.BwrapPath
	if b == "" {
		return nil
	}
	if !posix.isAbs(b) || strings.ContainsRune(b, 0) {
		return r.f.Errorf(quote(b)+" is not an absolute path", "write where bubblewrap lies, such as \"/usr/local/bin/bwrap\"", "bwrapPath")
	}
	r.p.bwrap = posix.clean(b)
	return nil
}

func checkGit(r *resolver) error {
	for i, d := range r.f.Git.SafeDirectories {
		path := d
		if d != "*" { // git's own word for every repository
			var err error
			if path, err = r.path(settings.PathEntry{Path: d, Literal: true}, "git", "safeDirectories", i); err != nil {
				return err
			}
		}
		r.p.safeDirs = append(r.p.safeDirs, path)
	}
	return nil
}

func takeRest(r *resolver) error {
	f, p := r.f, r.p
	p.network.ProxyAddr = ""
	if p.ctx.GOOS == "linux" {
		p.network.ProxyAddr = wire.LinuxProxyAddr
	}
	p.network.AllowLocalBinding = f.Network.AllowLocalBinding
	p.network.WeakerIsolation = f.EnableWeakerNetworkIsolation
	p.process.AllowNestedUserNamespaces = f.AllowNestedUserNamespaces
	p.process.WeakerNested = f.EnableWeakerNestedSandbox
	p.process.AllowPty = f.AllowPty
	p.process.AllowAppleEvents = f.AllowAppleEvents
	p.proxy.Version = wire.Version
	p.proxy.StrictAllowlist = f.Network.StrictAllowlist
	p.proxy.Ask = p.ctx.Ask && !f.Network.StrictAllowlist
	p.ignore = make(map[string][]string, len(f.IgnoreViolations))
	for pattern, parts := range f.IgnoreViolations {
		p.ignore[pattern] = clone(parts)
	}
	for _, key := range f.Inert(p.ctx.GOOS) {
		if key != "$schema" {
			r.note("%s has no effect here", key)
		}
	}
	return nil
}

func (r *resolver) note(format string, a ...any) {
	r.p.notes = append(r.p.notes, fmt.Sprintf(format, a...))
}

// quote shows a text of the file within bounds.
func quote(s string) string {
	const most = 120
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
