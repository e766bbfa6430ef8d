package hostmatch

import "strings"

// List is a parsed domain list. Its matching cost depends on the number of labels of the host, not on the length of the list.
// The zero value and a nil *List match nothing. A List is immutable and safe for concurrent use.
type List struct {
	entries []Pattern
	// Index of the first entry of each kind. Port 0 stands for every port.
	exact map[HostPort]int
	below map[suffixPort]int // "example.com" of "*.example.com"
	all   map[uint16]int     // "*"
}

type suffixPort struct {
	suffix string
	port   uint16
}

// ParseList reads allowedDomains. The error is the *SyntaxError of the first wrong entry.
func ParseList(entries []string) (*List, error) { return parseList(entries, ParsePattern) }

// ParseDenyList reads deniedDomains. The error is the *SyntaxError of the first wrong entry.
func ParseDenyList(entries []string) (*List, error) { return parseList(entries, ParseDenyPattern) }

func parseList(entries []string, one func(string) (Pattern, error)) (*List, error) {
	l := &List{
		entries: make([]Pattern, 0, len(entries)),
		exact:   make(map[HostPort]int),
		below:   make(map[suffixPort]int),
		all:     make(map[uint16]int),
	}
	for i, s := range entries {
		p, err := one(s)
		if err != nil {
			return nil, err
		}
		l.entries = append(l.entries, p)
		switch {
		case p.any:
			keepFirst(l.all, p.port, i)
		case p.suffix != "":
			keepFirst(l.below, suffixPort{p.suffix[1:], p.port}, i)
		default:
			keepFirst(l.exact, HostPort{p.host, p.port}, i)
		}
	}
	return l, nil
}

func keepFirst[K comparable](m map[K]int, k K, i int) {
	if _, taken := m[k]; !taken {
		m[k] = i
	}
}

// Match gives the first entry of the list that covers hp, as it was written.
func (l *List) Match(hp HostPort) (entry string, ok bool) {
	if l == nil || !hp.IsValid() {
		return "", false
	}
	best := len(l.entries)
	least := func(i int, ok bool) {
		if ok && i < best {
			best = i
		}
	}
	for _, port := range [...]uint16{0, hp.Port} {
		i, ok := l.all[port]
		least(i, ok)
		i, ok = l.exact[HostPort{hp.Host, port}]
		least(i, ok)
	}
	for rest := hp.Host.name; len(l.below) > 0; { // an address has no name, so no wildcard reaches it
		_, parent, found := strings.Cut(rest, ".")
		if !found {
			break
		}
		for _, port := range [...]uint16{0, hp.Port} {
			i, ok := l.below[suffixPort{parent, port}]
			least(i, ok)
		}
		rest = parent
	}
	if best == len(l.entries) {
		return "", false
	}
	return l.entries[best].text, true
}

// Len is the number of entries.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return len(l.entries)
}
