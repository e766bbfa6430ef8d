package egress

import (
	"net/netip"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
)

// noProxy is the list of destinations that are reached without the parent proxy, as curl reads NO_PROXY: a domain stands for itself
// and what is below it, a leading dot changes nothing, addresses and blocks are compared as such, "*" is everything.
type noProxy struct {
	all      bool
	domains  map[hostmatch.HostPort]bool // port 0: every port
	prefixes []netip.Prefix
}

// parseNoProxy reads a comma-separated list; white space separates too. The variable is everybody's, so an entry that is not understood
// is no error, but it is given back: its destinations go through the parent proxy.
func parseNoProxy(s string) (n noProxy, ignored []string) {
	n.domains = make(map[hostmatch.HostPort]bool)
	for _, entry := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if entry == "*" {
			n.all = true
			continue
		}
		if p, err := parsePrefix(strings.Trim(entry, "[]")); err == nil {
			n.prefixes = append(n.prefixes, p)
			continue
		}
		p, err := hostmatch.ParsePattern(strings.TrimPrefix(strings.TrimPrefix(entry, "*"), "."))
		if err != nil {
			ignored = append(ignored, entry)
			continue
		}
		n.domains[hostmatch.HostPort{Host: p.Host(), Port: p.Port()}] = true
	}
	return n, ignored
}

func (n noProxy) match(hp hostmatch.HostPort) bool {
	if n.all {
		return true
	}
	if hp.Host.IsAddr() {
		for _, p := range n.prefixes {
			if p.Contains(hp.Host.Addr()) {
				return true
			}
		}
		return n.domains[hp] || n.domains[hostmatch.HostPort{Host: hp.Host}]
	}
	for host, more := hp.Host, true; more; {
		if n.domains[hostmatch.HostPort{Host: host, Port: hp.Port}] || n.domains[hostmatch.HostPort{Host: host}] {
			return true
		}
		host, more = host.Parent()
	}
	return false
}
