package hostmatch

// Mirrors gives the destinations of an allow list that a sandbox can offer under the same address inside: loopback addresses,
// "localhost" and names below it, each with a port. The result is canonical ("127.0.0.1:5432", "[::1]:80", "localhost:3000"), without
// repetition, in the order of the list. Entries that do not parse are left out: the list itself is refused elsewhere.
//
// "localhost:PORT" and "app.localhost:PORT" stand for 127.0.0.1 and ::1 inside, where clients look for such names (RFC 6761), while the
// decision is about the name.
func Mirrors(entries []string) []string {
	var out []string
	seen := make(map[HostPort]bool)
	for _, s := range entries {
		p, err := ParsePattern(s)
		if err != nil || p.port == 0 {
			continue
		}
		hp := HostPort{Host: p.host, Port: p.port}
		if !p.host.addr.IsLoopback() && !p.host.IsLocalhost() || seen[hp] {
			continue
		}
		seen[hp] = true
		out = append(out, hp.String())
	}
	return out
}
