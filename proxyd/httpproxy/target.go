package httpproxy

import (
	"errors"
	"net/http"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
)

// target is what a request in absolute form asks for, read once from the raw request target.
type target struct {
	dest hostmatch.HostPort
	path string // origin form: what the origin gets
}

var errNotHTTP = errors.New("only http:// targets are forwarded; use CONNECT for everything else")

// parseTarget reads "http://host[:port]/path?query". The path stays byte for byte what the client sent.
func parseTarget(method, uri string) (target, error) {
	const scheme = "http://"
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return target{}, errNotHTTP
	}
	authority, path := uri[len(scheme):], ""
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if strings.Contains(path, "#") {
		return target{}, errors.New("a fragment is not part of a request target")
	}
	dest, err := hostmatch.ParseHostPort(authority, 80)
	if err != nil {
		return target{}, err
	}
	switch {
	case path == "" && method == http.MethodOptions:
		path = "*"
	case path == "" || path[0] == '?':
		path = "/" + path
	}
	return target{dest: dest, path: path}, nil
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
