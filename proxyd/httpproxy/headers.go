package httpproxy

import (
	"bytes"
	"slices"
)

// hopByHop says whether a header belongs to one connection (RFC 9110, 7.6.1), or is one that a proxy writes by itself.
func hopByHop(name []byte) bool {
	switch len(name) {
	case len("te"):
		return is(name, "te")
	case len("upgrade"):
		return is(name, "upgrade")
	case len("connection"): // and Keep-Alive
		return is(name, "connection") || is(name, "keep-alive")
	case len("http2-settings"):
		return is(name, "http2-settings")
	case len("proxy-connection"): // never standardised, still sent
		return is(name, "proxy-connection")
	case len("proxy-authenticate"):
		return is(name, "proxy-authenticate")
	case len("proxy-authorization"): // credentials for us are nobody else's business
		return is(name, "proxy-authorization")
	}
	return false
}

// named adds a header that Connection names. What frames the message cannot be named away.
func named(list []string, token []byte) []string {
	if len(token) == 0 || is(token, "host") || is(token, "content-length") || is(token, "transfer-encoding") || hopByHop(token) {
		return list
	}
	return append(list, string(bytes.ToLower(token)))
}

// appendEndToEnd appends the header lines that are meant for the other end, as they are, but for those that drop names.
func appendEndToEnd(dst, lines []byte, named []string, drop func(name []byte) bool) []byte {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n') + 1
		name, _, _ := bytes.Cut(lines[:end], []byte(":"))
		isNamed := func(n string) bool { return is(name, n) }
		if !hopByHop(name) && !drop(name) && !slices.ContainsFunc(named, isNamed) {
			dst = append(dst, lines[:end]...)
		}
		lines = lines[end:]
	}
	return dst
}

func isHost(name []byte) bool   { return is(name, "host") }
func isCoding(name []byte) bool { return is(name, "transfer-encoding") }
func isLength(name []byte) bool { return is(name, "content-length") }
func nothing([]byte) bool       { return false }
