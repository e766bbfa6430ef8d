// Package hostmatch parses destinations and the domain lists of the settings into one canonical form and matches the one against the
// other. It decides nothing, resolves nothing and must never do I/O: whoever judges a destination judges the value of this package,
// and dials, rewrites and reports from that same value, so that no second reading of the text can differ from the judged one.
//
// A name is compared in lower-case ASCII (IDNA) without its trailing dot. An address is compared as an address: every spelling that a
// resolver or a URL parser somewhere takes for an IPv4 address (decimal, octal, hexadecimal, shortened, IPv4-mapped) becomes that
// address before it is matched. Zone identifiers are refused. A wildcard never matches an address.
//
// golang.org/x/net/idna is used for names outside ASCII, because their ASCII form is what the resolver will be asked for.
package hostmatch
