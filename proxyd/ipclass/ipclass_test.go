package ipclass

import (
	"net/netip"
	"testing"
)

func TestOf(t *testing.T) {
	for in, want := range map[string]Class{
		"127.0.0.1": Loopback, "127.255.255.254": Loopback, "::1": Loopback,
		"0.0.0.0": Unspecified, "0.1.2.3": Unspecified, "::": Unspecified,
		"169.254.1.9": LinkLocal, "fe80::1": LinkLocal, "febf::1": LinkLocal, "fe80::1%eth0": LinkLocal,
		"224.0.0.1": Multicast, "239.255.255.250": Multicast, "ff02::1": Multicast,
		"255.255.255.255": Broadcast,
		"169.254.169.254": Metadata, "169.254.170.2": Metadata, "100.100.100.200": Metadata, "168.63.129.16": Metadata, "192.0.0.192": Metadata,
		"fd00:ec2::254": Metadata, "fd00:ec2:ffff::1": Metadata, "fd20:ce::254": Metadata, "fd00:c1::a9fe:a9fe": Metadata, "fd00:42::42": Metadata,
		"fd00:a9fe:a9fe::1": Metadata, "fd00:100::100:200": Metadata, "fe80::a9fe:a9fe": Metadata,
		"::ffff:127.0.0.1": Loopback, "::127.0.0.1": Loopback, "::ffff:0:127.0.0.1": Loopback, "64:ff9b::127.0.0.1": Loopback,
		"64:ff9b:1::7f00:1": Loopback, "2002:7f00:1::": Loopback, "2002:a9fe:a9fe::1": Metadata, "64:ff9b::169.254.169.254": Metadata,
		"::ffff:169.254.169.254": Metadata, "::ffff:0:0.0.0.0": Unspecified, "64:ff9b::255.255.255.255": Broadcast, "2002:e000:1::": Multicast,
		"10.0.0.1": Ordinary, "192.168.1.1": Ordinary, "203.0.113.66": Ordinary, "fd99::2": Ordinary, "2001:db8::1": Ordinary,
		"fd20:ce::255": Ordinary, "fec0::1": Ordinary, "168.63.129.17": Ordinary, "2002:a00:1::": Ordinary, "::ffff:10.0.0.1": Ordinary,
		"254.0.0.1": Ordinary, "128.0.0.1": Ordinary, "1.0.0.0": Ordinary,
	} {
		if got := Of(netip.MustParseAddr(in)); got != want {
			t.Errorf("Of(%s) = %v, want %v", in, got, want)
		}
	}
	if got := Of(netip.Addr{}); got != Invalid || got.String() != "an invalid address" {
		t.Errorf("no address is %v", got)
	}
}

func TestEveryClassHasItsOwnWords(t *testing.T) {
	seen := map[string]Class{}
	for c := Invalid; c <= Ordinary; c++ {
		if other, dup := seen[c.String()]; dup {
			t.Errorf("classes %d and %d are both %q", c, other, c)
		}
		seen[c.String()] = c
	}
}

func TestForms(t *testing.T) {
	for in, want := range map[string]string{
		"::ffff:1.2.3.4": "1.2.3.4", "::1.2.3.4": "1.2.3.4", "64:ff9b::1.2.3.4": "1.2.3.4", "2002:102:304::5": "1.2.3.4",
		"2001:db8::1.2.3.4": "", "1.2.3.4": "",
	} {
		f := Forms(netip.MustParseAddr(in))
		if want == "" && len(f) != 1 || want != "" && (len(f) != 2 || f[1].String() != want) {
			t.Errorf("Forms(%s) = %v, want the carried %q", in, f, want)
		}
	}
}
