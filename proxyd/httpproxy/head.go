package httpproxy

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/srt-dev/srt/proxyd/limits"
)

// framing says what follows the head of a request.
type framing struct {
	length  int64 // bytes of a body with Content-Length
	chunked bool
	tunnel  bool // CONNECT: everything that follows belongs to the tunnel
}

// headError is a request head that is refused. Status is the HTTP status of the answer.
type headError struct {
	Status int
	Reason string
}

func (e *headError) Error() string { return e.Reason }

func badHead(format string, a ...any) (framing, error) {
	return framing{}, &headError{Status: 400, Reason: fmt.Sprintf(format, a...)}
}

// checkHead judges the bytes of one request head, from its first byte to the empty line. It refuses every shape that two readers could
// understand differently (request smuggling), so that what the origin sees cannot differ from what was judged: bare line ends, folded
// lines, spaces around names, control bytes, more than one length, a length beside a transfer coding, an unknown coding, another
// version than 1.0 and 1.1, not exactly one Host.
func checkHead(head []byte) (framing, error) {
	lines := bytes.Split(bytes.TrimSuffix(head, []byte("\r\n\r\n")), []byte("\r\n"))
	method, target, version, err := requestLine(lines[0])
	if err != nil {
		return framing{}, err
	}
	if len(lines) > limits.Headers {
		return framing{}, &headError{Status: 431, Reason: fmt.Sprintf("more than %d header lines", limits.Headers)}
	}
	f := framing{tunnel: method == "CONNECT"}
	hosts, lengths, codings := 0, 0, 0
	for _, line := range lines[1:] {
		name, value, err := headerLine(line)
		if err != nil {
			return framing{}, err
		}
		switch strings.ToLower(name) {
		case "host":
			hosts++
		case "content-length":
			lengths++
			if f.length, err = contentLength(value); err != nil {
				return framing{}, err
			}
		case "transfer-encoding":
			codings++
			if !strings.EqualFold(value, "chunked") {
				return badHead("transfer coding %q; only \"chunked\" is understood", value)
			}
			f.chunked = true
		}
	}
	switch {
	case hosts > 1 || hosts == 0 && version == "HTTP/1.1":
		return badHead("%d Host headers where one belongs", hosts)
	case lengths > 1:
		return badHead("more than one Content-Length")
	case codings > 1:
		return badHead("more than one Transfer-Encoding")
	case lengths > 0 && codings > 0:
		return badHead("both Content-Length and Transfer-Encoding")
	case codings > 0 && version == "HTTP/1.0":
		return badHead("Transfer-Encoding in HTTP/1.0")
	case f.tunnel && (f.length > 0 || f.chunked):
		return badHead("CONNECT with a body")
	case f.tunnel && strings.ContainsAny(target, "/?#"):
		return badHead("CONNECT takes host:port")
	}
	return f, nil
}

func requestLine(line []byte) (method, target, version string, err error) {
	parts := strings.Split(string(line), " ")
	if len(parts) != 3 || parts[1] == "" {
		_, err = badHead("the request line is not METHOD TARGET VERSION")
		return "", "", "", err
	}
	method, target, version = parts[0], parts[1], parts[2]
	switch {
	case !isToken(method):
		_, err = badHead("the method is not a token")
	case version != "HTTP/1.1" && version != "HTTP/1.0":
		_, err = badHead("the version is neither HTTP/1.1 nor HTTP/1.0")
	case strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		_, err = badHead("a control character in the request target")
	}
	return method, target, version, err
}

func headerLine(line []byte) (name, value string, err error) {
	i := bytes.IndexByte(line, ':')
	switch {
	case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
		_, err = badHead("a folded header line")
	case i < 0:
		_, err = badHead("a header line without colon")
	case !isToken(string(line[:i])):
		_, err = badHead("a header name that is not a token")
	case bytes.ContainsFunc(line[i:], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		_, err = badHead("a control character in a header")
	}
	if err != nil {
		return "", "", err
	}
	return string(line[:i]), string(bytes.Trim(line[i+1:], " \t")), nil
}

func contentLength(value string) (int64, error) {
	if value == "" || len(value) > 18 || strings.Trim(value, "0123456789") != "" {
		_, err := badHead("Content-Length %q is not a number", value)
		return 0, err
	}
	var n int64
	for _, c := range []byte(value) {
		n = n*10 + int64(c-'0')
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
