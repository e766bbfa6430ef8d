package sbpltest

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// peerFilter reads (remote tcp "localhost:80"), (local ip "localhost:*"), (remote unix-socket (subpath "/a")).
func peerFilter(args []sbpl.Node, op string) (filter, error) {
	if len(args) == 0 || args[0].Kind != sbpl.Symbol {
		return nil, fmt.Errorf("an address family is wanted")
	}
	switch family := args[0].Text; family {
	case "unix-socket":
		if len(args) == 1 {
			return func(q *Query) bool { return !q.IP }, nil
		}
		f, err := compile(args[1], "file-"+op) // the path filters of files
		if err != nil || len(args) != 2 {
			return nil, fmt.Errorf("unix-socket wants one path filter: %w", err)
		}
		return func(q *Query) bool { return !q.IP && f(q) }, nil
	case "ip", "tcp":
		address, err := text(args[1:])
		if err != nil {
			return nil, err
		}
		match, err := parseAddress(address)
		return func(q *Query) bool { return q.IP && (family == "ip" || q.TCP) && match(q) }, err
	default:
		return nil, fmt.Errorf("unbound variable: %s", family)
	}
}

func parseAddress(address string) (filter, error) {
	host, port, ok := strings.Cut(address, ":")
	if !ok || host != "*" && host != "localhost" {
		return nil, fmt.Errorf("host must be * or localhost in network address, not %q", address)
	}
	if port != "*" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.Itoa(int(n)) != port {
			return nil, fmt.Errorf("bad port in network address %q", address)
		}
	}
	return func(q *Query) bool {
		return (port == "*" || port == strconv.Itoa(q.Port)) && (host == "*" || isLocalhost(q.Host))
	}, nil
}

// isLocalhost: the two loopback addresses and, for a socket that is not bound yet, any address; a mapped loopback address is not one.
func isLocalhost(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && (a == netip.MustParseAddr("127.0.0.1") || a == netip.IPv6Loopback() || a.IsUnspecified())
}
