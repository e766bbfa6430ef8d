package hostmatch

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// FuzzHost holds what every caller relies on: a host that parses is canonical, made of harmless bytes, and reads as itself again.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.", "bücher.example", "127.1", "0x7f.1", "[::1]", "::ffff:1.2.3.4", "a\x00.b", "１.2", "[fe80::1%25x.y]", "a.0x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err != nil {
			if h.IsValid() {
				t.Fatalf("ParseHost(%q) gives %v beside the error %v", s, h, err)
			}
			return
		}
		text := h.String()
		if strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") != "" || strings.HasSuffix(text, ".") || text == "" {
			t.Fatalf("ParseHost(%q) = %q is not canonical", s, text)
		}
		if again, err := ParseHost(text); err != nil || again != h {
			t.Fatalf("%q reads as %q, then as %q, %v", s, h, again, err)
		}
		if a, err := netip.ParseAddr(text); (err == nil) != h.IsAddr() || err == nil && a != h.Addr() {
			t.Fatalf("%q: address %v, but the text %q says %v, %v", s, h.Addr(), text, a, err)
		}
		hp := HostPort{Host: h, Port: 443}
		if again, err := ParseHostPort(hp.String(), 0); err != nil || again != hp {
			t.Fatalf("%q reads as %v, %v", hp, again, err)
		}
	})
}

// FuzzList compares the index with trying every entry, and every suggestion with the grammar.
func FuzzList(f *testing.F) {
	f.Add("*.example.com\nexample.com\n*\n*:22", "www.example.com:22")
	f.Add("a.b:1\n*.b:1\n[::1]\n10.0.0.1:80", "10.0.0.1:80")
	f.Add("127.1\nhttp://a.b\n*.localhost\n*:1", "a.localhost:1")
	f.Fuzz(func(t *testing.T, entries, dest string) {
		hp, err := ParseHostPort(dest, 80)
		if err != nil {
			return
		}
		var good []string
		var patterns []Pattern
		for e := range strings.SplitSeq(entries, "\n") {
			p, err := ParseDenyPattern(e)
			if allow, err2 := ParsePattern(e); err == nil && (err2 == nil) == p.any {
				t.Fatalf("%q: deny list %v, allow list %v, %v", e, p, allow, err2)
			}
			if err != nil {
				if bad := err.(*SyntaxError); bad.Hint != "" {
					if _, err := ParseDenyPattern(bad.Hint); err != nil {
						t.Fatalf("the suggestion for %q is wrong: %v", e, err)
					}
				}
				continue
			}
			good, patterns = append(good, e), append(patterns, p)
		}
		l, err := ParseDenyList(good)
		if err != nil {
			t.Fatal(err)
		}
		want, found := "", false
		for i, p := range patterns {
			if p.Match(hp) {
				want, found = good[i], true
				break
			}
		}
		if got, ok := l.Match(hp); got != want || ok != found {
			t.Fatalf("Match(%s) over %q = %q, %v; one by one %q, %v", hp, good, got, ok, want, found)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 100, 10000} {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf("*.host%d.example.com", i)
		}
		l, err := ParseList(entries)
		if err != nil {
			b.Fatal(err)
		}
		hp, _ := ParseHostPort("a.b.host0.example.com:443", 0)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				l.Match(hp)
			}
		})
	}
}
