package httpproxy

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/proxyd/limits"
)

// request is one checked request head.
type request struct {
	method string
	target target
	minor  int    // of the version: 0 or 1
	lines  []byte // the header lines, unchanged, each with its CRLF

	length    int64 // of the body, 0 when there is none
	chunked   bool
	keepAlive bool     // the client wants to go on afterwards
	upgrade   string   // the protocol to change to, or ""
	trailers  bool     // "TE: trailers"
	named     []string // headers that Connection names, lower case, beside the usual ones
}

func (r *request) hasBody() bool { return r.length > 0 || r.chunked }

// headError is a request head, or a body, that is refused.
type headError struct {
	Status int
	Code   string // X-Proxy-Error
	Reason string // for the report
	Detail string // for the client
}

// Error implements error.
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

// parseRequest judges the bytes of one request head, from its first byte to the empty line. It refuses every shape that two readers
// could understand differently (request smuggling), so that what the origin sees cannot differ from what was judged: bare line ends,
// folded lines, spaces around names, control bytes, more than one length, a length beside a transfer coding, an unknown coding, another
// version than 1.0 and 1.1, not exactly one Host (CONNECT needs none). The result keeps no part of head but lines.
func parseRequest(head []byte) (*request, *headError) {
	line, lines, _ := bytes.Cut(head[:len(head)-2], []byte("\r\n"))
	r := &request{lines: lines}
	uri, bad := r.requestLine(line)
	if bad != nil {
		return nil, bad
	}
	var seen headerCount
	for rest := lines; len(rest) > 0; {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if seen.lines++; seen.lines > limits.Headers {
			return nil, tooLarge("more than %d header lines", limits.Headers)
		}
		name, value, bad := headerLine(line)
		if bad == nil {
			bad = r.header(&seen, name, value)
		}
		if bad != nil {
			return nil, bad
		}
	}
	switch {
	case seen.hosts > 1 || seen.hosts == 0 && r.minor == 1 && r.method != http.MethodConnect: // whose target says it all
		return nil, malformed("%d Host headers where one belongs", seen.hosts)
	case seen.lengths > 1:
		return nil, malformed("more than one Content-Length")
	case seen.codings > 1:
		return nil, malformed("more than one Transfer-Encoding")
	case seen.lengths > 0 && seen.codings > 0:
		return nil, malformed("both Content-Length and Transfer-Encoding")
	case seen.codings > 0 && r.minor == 0:
		return nil, malformed("Transfer-Encoding in HTTP/1.0")
	case r.method == http.MethodConnect && r.hasBody():
		return nil, malformed("CONNECT with a body")
	}
	r.keepAlive = !seen.close && (r.minor == 1 || seen.keepAlive)
	// HTTP/2 in clear text is not passed on: the requests inside could not be judged.
	if !seen.upgrade || r.minor == 0 || r.hasBody() || strings.Contains(strings.ToLower(r.upgrade), "h2c") {
		r.upgrade = ""
	}
	r.target, bad = parseTarget(r.method, uri)
	return r, bad
}

// headerCount is what the headers of one head said about the connection.
type headerCount struct {
	lines, hosts, lengths, codings int
	close, keepAlive, upgrade      bool // tokens of Connection
}

func (r *request) requestLine(line []byte) (uri string, bad *headError) {
	parts := strings.Split(string(line), " ")
	if len(parts) != 3 || parts[1] == "" {
		return "", malformed("the request line is not METHOD TARGET VERSION")
	}
	r.method, uri = parts[0], parts[1]
	switch {
	case parts[2] == "HTTP/1.1":
		r.minor = 1
	case parts[2] != "HTTP/1.0":
		return "", malformed("the version is neither HTTP/1.1 nor HTTP/1.0")
	}
	if !isToken(r.method) {
		return "", malformed("the method is not a token")
	}
	if strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return "", malformed("a control character in the request target")
	}
	return uri, nil
}

// header takes notice of one header.
func (r *request) header(seen *headerCount, name, value []byte) *headError {
	switch {
	case is(name, "host"):
		seen.hosts++
	case is(name, "content-length"):
		seen.lengths++
		n, ok := parseLength(value)
		if !ok {
			return malformed("Content-Length %q is not a number", value)
		}
		r.length = n
	case is(name, "transfer-encoding"):
		seen.codings++
		if !is(value, "chunked") {
			return malformed("transfer coding %q; only \"chunked\" is understood", value)
		}
		r.chunked = true
	case is(name, "connection"):
		for token := range bytes.SplitSeq(value, []byte(",")) {
			switch token = bytes.TrimSpace(token); {
			case is(token, "close"):
				seen.close = true
			case is(token, "keep-alive"):
				seen.keepAlive = true
			case is(token, "upgrade"):
				seen.upgrade = true
			default:
				r.named = named(r.named, token)
			}
		}
	case is(name, "upgrade"):
		r.upgrade = string(value)
	case is(name, "te"):
		r.trailers = r.trailers || bytes.Contains(bytes.ToLower(value), []byte("trailers"))
	}
	return nil
}

// headerLine takes a header line apart. name and value are parts of line.
func headerLine(line []byte) (name, value []byte, bad *headError) {
	i := bytes.IndexByte(line, ':')
	switch {
	case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
		return nil, nil, malformed("a folded header line")
	case i < 0:
		return nil, nil, malformed("a header line without colon")
	case !isToken(line[:i]):
		return nil, nil, malformed("a header name that is not a token")
	}
	for _, c := range line[i:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			return nil, nil, malformed("a control character in a header")
		}
	}
	return line[:i], bytes.Trim(line[i+1:], " \t"), nil
}

func parseLength(value []byte) (int64, bool) {
	if len(value) > 18 || !isDigits(value) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// tokenChar is the set of characters of a token (RFC 9110).
var tokenChar = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

func isToken[T string | []byte](s T) bool {
	for i := range len(s) {
		if !tokenChar[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// is compares without regard to the case of ASCII letters; lower is in lower case.
func is(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
