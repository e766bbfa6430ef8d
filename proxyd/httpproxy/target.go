package httpproxy

import (
	"net/http"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
)

// target is what a request asks for, read once from the raw request target.
type target struct {
	dest hostmatch.HostPort
	path string // origin form: what the origin gets; "" for CONNECT
}

// parseTarget reads "http://host[:port]/path?query", or "host:port" for CONNECT. The path stays byte for byte what the client sent.
func parseTarget(method, uri string) (target, *headError) {
	var t target
	bad := func(detail string) (target, *headError) {
		return t, &headError{Status: http.StatusBadRequest, Code: codeMalformed, Reason: "malformed destination", Detail: detail}
	}
	authority, port := uri, uint16(0)
	if method != http.MethodConnect {
		const scheme = "http://"
		if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
			return t, &headError{Status: http.StatusBadRequest, Code: codeNotProxy, Reason: "not a request to a proxy",
				Detail: "this is srt's proxy: requests need a target in absolute form (http://host/…), or CONNECT for other schemes"}
		}
		authority, port = uri[len(scheme):], 80
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority, t.path = authority[:i], authority[i:]
		}
		switch {
		case strings.Contains(t.path, "#"):
			return bad("a fragment is not part of a request target")
		case t.path == "" && method == http.MethodOptions:
			t.path = "*"
		case t.path == "" || t.path[0] == '?':
			t.path = "/" + t.path
		}
	}
	var err error
	if t.dest, err = hostmatch.ParseHostPort(authority, port); err != nil {
		return bad(err.Error())
	}
	return t, nil
}

// hostHeader is the Host that the origin gets: the judged destination, without the port that http implies.
func (t target) hostHeader() string {
	s := t.dest.String()
	if t.dest.Port == 80 {
		return strings.TrimSuffix(s, ":80")
	}
	return s
}

// absolute is the target for an upstream proxy.
func (t target) absolute() string {
	if t.path == "*" {
		return "http://" + t.hostHeader()
	}
	return "http://" + t.hostHeader() + t.path
}
