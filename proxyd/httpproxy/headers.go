package httpproxy

import (
	"net/http"
	"strings"
)

// hopByHop are the headers that belong to one connection (RFC 9110, 7.6.1) and those that a proxy writes itself.
var hopByHop = map[string]bool{
	"Connection":          true,
	"Proxy-Connection":    true, // never standardised, still sent
	"Keep-Alive":          true,
	"Proxy-Authenticate":  true,
	"Proxy-Authorization": true, // credentials for us are nobody else's business
	"Te":                  true,
	"Trailer":             true, // written again from the parsed trailers
	"Transfer-Encoding":   true, // bodies are framed anew
	"Upgrade":             true,
	"Http2-Settings":      true,
}

// framing headers are written from the parsed request, and cannot be named away by Connection.
var ownHeaders = map[string]bool{"Host": true, "Content-Length": true}

// dropped gives the headers of h that are not forwarded: hopByHop and what Connection names.
func dropped(h http.Header) map[string]bool {
	drop := hopByHop
	for _, token := range tokens(h, "Connection") {
		key := http.CanonicalHeaderKey(token)
		if drop[key] || ownHeaders[key] || key == "Close" {
			continue
		}
		if len(drop) == len(hopByHop) {
			drop = make(map[string]bool, len(hopByHop)+4)
			for k := range hopByHop {
				drop[k] = true
			}
		}
		drop[key] = true
	}
	return drop
}

// tokens gives the elements of a comma-separated header.
func tokens(h http.Header, key string) []string {
	var out []string
	for _, v := range h[key] {
		for t := range strings.SplitSeq(v, ",") {
			if t = strings.TrimSpace(t); t != "" {
				out = append(out, t)
			}
		}
	}
	return out
}

func hasToken(h http.Header, key, token string) bool {
	for _, t := range tokens(h, key) {
		if strings.EqualFold(t, token) {
			return true
		}
	}
	return false
}

// upgrades gives the protocol that a request or response changes to, "" for none. HTTP/2 in clear text is not passed on: the requests
// inside could not be judged.
func upgrades(h http.Header) string {
	if !hasToken(h, "Connection", "upgrade") || len(h["Upgrade"]) != 1 || hasToken(h, "Upgrade", "h2c") {
		return ""
	}
	return h["Upgrade"][0]
}
