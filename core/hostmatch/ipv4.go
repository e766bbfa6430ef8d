package hostmatch

import (
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber says whether some resolver or URL parser would take name for an IPv4 address: its last label is all digits, or "0x"
// with hexadecimal digits (the rule of the WHATWG URL standard).
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// parseIPv4 reads what inet_aton(3) reads: one to four parts, decimal, octal (leading 0) or hexadecimal (leading 0x), the last part
// filling the bytes that are left.
func parseIPv4(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		n, ok := parsePart(p)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 0xff {
				return netip.Addr{}, false
			}
			v |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(32-8*i) {
			return netip.Addr{}, false
		}
		v |= n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func parsePart(p string) (uint64, bool) {
	base, digits := 10, p
	if hex, ok := strings.CutPrefix(p, "0x"); ok {
		base, digits = 16, hex
	} else if len(p) > 1 && p[0] == '0' {
		base, digits = 8, p[1:]
	}
	if digits == "" || strings.ContainsAny(digits, "_+-") { // ParseUint alone would take some of these
		return 0, false
	}
	n, err := strconv.ParseUint(digits, base, 33)
	return n, err == nil
}
