package httpproxy

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/proxyd/limits"
)

// requestHead is what a checked head says: what is asked for, and what follows the head.
type requestHead struct {
	target  target
	length  int64 // bytes of a body with Content-Length
	chunked bool
	tunnel  bool // CONNECT: everything that follows belongs to the tunnel

	targetAt, targetEnd int // where the request target stands
}

// headError is a request head that is refused. Status is the HTTP status of the answer.
type headError struct {
	Status int
	Code   string // X-Proxy-Error
	Reason string // for the report
	Detail string // for the client
}

func (e *headError) Error() string { return e.Reason }

func malformed(format string, a ...any) *headError {
	detail := fmt.Sprintf(format, a...)
	return &headError{Status: http.StatusBadRequest, Code: codeMalformed, Reason: "malformed request: " + detail, Detail: detail}
}

func tooLarge(format string, a ...any) *headError {
	bad := malformed(format, a...)
	bad.Status = http.StatusRequestHeaderFieldsTooLarge
	return bad
}

// checkHead judges the bytes of one request head, from its first byte to the empty line. It refuses every shape that two readers could
// understand differently (request smuggling), so that what the origin sees cannot differ from what was judged: bare line ends, folded
// lines, spaces around names, control bytes, more than one length, a length beside a transfer coding, an unknown coding, another
// version than 1.0 and 1.1, not exactly one Host.
func checkHead(head []byte) (requestHead, *headError) {
	lines := bytes.Split(bytes.TrimSuffix(head, []byte("\r\n\r\n")), []byte("\r\n"))
	method, uri, version, bad := requestLine(lines[0])
	if bad != nil {
		return requestHead{}, bad
	}
	if len(lines) > limits.Headers {
		return requestHead{}, tooLarge("more than %d header lines", limits.Headers)
	}
	h := requestHead{tunnel: method == http.MethodConnect, targetAt: len(method) + 1, targetEnd: len(method) + 1 + len(uri)}
	hosts, lengths, codings := 0, 0, 0
	var connection []string
	for _, line := range lines[1:] {
		name, value, bad := headerLine(line)
		if bad != nil {
			return requestHead{}, bad
		}
		switch strings.ToLower(name) {
		case "host":
			hosts++
		case "connection":
			connection = append(connection, value)
		case "content-length":
			lengths++
			if h.length, bad = contentLength(value); bad != nil {
				return requestHead{}, bad
			}
		case "transfer-encoding":
			codings++
			if !strings.EqualFold(value, "chunked") {
				return requestHead{}, malformed("transfer coding %q; only \"chunked\" is understood", value)
			}
			h.chunked = true
		}
	}
	switch {
	case hosts > 1 || hosts == 0 && version == "HTTP/1.1":
		return requestHead{}, malformed("%d Host headers where one belongs", hosts)
	case lengths > 1:
		return requestHead{}, malformed("more than one Content-Length")
	case codings > 1:
		return requestHead{}, malformed("more than one Transfer-Encoding")
	case lengths > 0 && codings > 0:
		return requestHead{}, malformed("both Content-Length and Transfer-Encoding")
	case codings > 0 && version == "HTTP/1.0":
		return requestHead{}, malformed("Transfer-Encoding in HTTP/1.0")
	case h.tunnel && (h.length > 0 || h.chunked):
		return requestHead{}, malformed("CONNECT with a body")
	}
	h.target, bad = parseTarget(method, uri)
	h.target.connection = connection
	return h, bad
}

func requestLine(line []byte) (method, uri, version string, bad *headError) {
	parts := strings.Split(string(line), " ")
	if len(parts) != 3 || parts[1] == "" {
		return "", "", "", malformed("the request line is not METHOD TARGET VERSION")
	}
	method, uri, version = parts[0], parts[1], parts[2]
	switch {
	case !isToken(method):
		bad = malformed("the method is not a token")
	case version != "HTTP/1.1" && version != "HTTP/1.0":
		bad = malformed("the version is neither HTTP/1.1 nor HTTP/1.0")
	case strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		bad = malformed("a control character in the request target")
	}
	return method, uri, version, bad
}

func headerLine(line []byte) (name, value string, bad *headError) {
	i := bytes.IndexByte(line, ':')
	switch {
	case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
		return "", "", malformed("a folded header line")
	case i < 0:
		return "", "", malformed("a header line without colon")
	case !isToken(string(line[:i])):
		return "", "", malformed("a header name that is not a token")
	case bytes.ContainsFunc(line[i:], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "", "", malformed("a control character in a header")
	}
	return string(line[:i]), string(bytes.Trim(line[i+1:], " \t")), nil
}

func contentLength(value string) (int64, *headError) {
	if len(value) > 18 || strings.Trim(value, "0123456789") != "" {
		return 0, malformed("Content-Length %q is not a number", value)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, malformed("Content-Length %q is not a number", value)
	}
	return n, nil
}

// isToken says whether s is a token of RFC 9110.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 {
			continue
		}
		return false
	}
	return s != ""
}
