// Package ipclass says what kind of address a resolved address is: loopback, link-local, a cloud metadata service, … It is a table with
// a look-up; it must never decide (package egress does) and never do I/O.
package ipclass

import "net/netip"

// Class is a kind of address that no name may lead to unless the address itself is allowed.
type Class uint8

// Classes, in the order in which a refusal names them. The zero value is what an invalid address gets.
const (
	Invalid Class = iota
	Loopback
	Unspecified
	LinkLocal
	Multicast
	Broadcast
	Metadata
	Ordinary // none of the above
)

// String is the class as a refusal names it.
func (c Class) String() string {
	switch c {
	case Loopback:
		return "a loopback address"
	case Unspecified:
		return "an unspecified address"
	case LinkLocal:
		return "a link-local address"
	case Multicast:
		return "a multicast address"
	case Broadcast:
		return "the broadcast address"
	case Metadata:
		return "a cloud metadata address"
	case Ordinary:
		return "an ordinary address"
	}
	return "an invalid address"
}

var table = []struct {
	prefix netip.Prefix
	class  Class
}{
	{netip.MustParsePrefix("127.0.0.0/8"), Loopback},
	{netip.MustParsePrefix("::1/128"), Loopback},
	{netip.MustParsePrefix("0.0.0.0/8"), Unspecified}, // Linux connects 0.0.0.0 to this host
	{netip.MustParsePrefix("::/128"), Unspecified},    // the same
	{netip.MustParsePrefix("169.254.169.254/32"), Metadata},
	{netip.MustParsePrefix("169.254.170.2/32"), Metadata}, // AWS container credentials
	{netip.MustParsePrefix("169.254.0.0/16"), LinkLocal},
	{netip.MustParsePrefix("fe80::a9fe:a9fe/128"), Metadata}, // OpenStack
	{netip.MustParsePrefix("fe80::/10"), LinkLocal},
	{netip.MustParsePrefix("224.0.0.0/4"), Multicast},
	{netip.MustParsePrefix("ff00::/8"), Multicast},
	{netip.MustParsePrefix("255.255.255.255/32"), Broadcast},
	{netip.MustParsePrefix("100.100.100.200/32"), Metadata},     // Alibaba
	{netip.MustParsePrefix("168.63.129.16/32"), Metadata},       // Azure platform
	{netip.MustParsePrefix("192.0.0.192/32"), Metadata},         // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), Metadata},          // AWS
	{netip.MustParsePrefix("fd20:ce::254/128"), Metadata},       // Google
	{netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), Metadata}, // Oracle
	{netip.MustParsePrefix("fd00:42::42/128"), Metadata},        // Scaleway
	{netip.MustParsePrefix("fd00:a9fe:a9fe::1/128"), Metadata},  // Linode
	{netip.MustParsePrefix("fd00:100::100:200/128"), Metadata},  // Alibaba
}

// carriers are IPv6 ranges whose addresses are delivered to the IPv4 address inside them.
var carriers = []struct {
	prefix netip.Prefix
	at     int // offset of the IPv4 address, in bytes
}{
	{netip.MustParsePrefix("::ffff:0:0/96"), 12},   // IPv4-mapped
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of a site, in its usual /96 form
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// Of classifies a, looking also at the IPv4 address that a may carry.
func Of(a netip.Addr) Class {
	if !a.IsValid() {
		return Invalid
	}
	for _, form := range Forms(a) {
		for _, row := range table {
			if row.prefix.Contains(form) {
				return row.class
			}
		}
	}
	return Ordinary
}

// Forms gives a without its zone, and the IPv4 address that it carries, if any: every rule about IPv4 addresses is asked about both.
func Forms(a netip.Addr) []netip.Addr {
	a = a.WithZone("")
	if a.Is4() {
		return []netip.Addr{a}
	}
	b := a.As16()
	for _, c := range carriers {
		if c.prefix.Contains(a) {
			return []netip.Addr{a, netip.AddrFrom4([4]byte(b[c.at : c.at+4]))}
		}
	}
	return []netip.Addr{a}
}
